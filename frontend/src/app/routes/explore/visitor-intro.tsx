import { Button } from "@ui/button";
import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { product } from "@/lib/product";
import { hasStoredSession } from "@/lib/services";
import { useSession } from "@/lib/session";
import { introClasses } from "./intro-classes";

/** Describes the site to visitors in one sentence. Signed-in users do not see it. */
export function VisitorIntro() {
  const { user, isLoading } = useSession();
  // Decided before the auth client is ready, because an intro that appears later would push the grid down.
  const isSignedIn = isLoading ? hasStoredSession() : user !== null;
  if (isSignedIn) return null;
  return (
    <aside aria-label={`About ${product.name}`} className={introClasses.frame}>
      <p className={introClasses.text}>{product.about}</p>
      <p className={introClasses.shortText}>{product.aboutInShort}</p>
      <Button asChild>
        <Link to={paths.signUp}>Create Your Page</Link>
      </Button>
    </aside>
  );
}
