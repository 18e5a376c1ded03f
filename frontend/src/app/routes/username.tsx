import { LoadingPage } from "@ui/spinner";
import { Suspense } from "react";
import { useParams } from "react-router";
import { lazyPart } from "@/lib/lazy-part";
import { isReservedUsername } from "@/lib/reserved-usernames";
import { NotFound } from "./not-found";
import { PublicProfilePage } from "./public-profile";

const LegalPage = lazyPart(async () => ({ default: (await import("./legal-page")).LegalPage }));

/** The page at /{username}. A word that the site keeps for itself is a missing page, not a missing user. */
export function UsernamePage() {
  const { username = "" } = useParams();
  if (username === "terms" || username === "privacy") {
    return (
      <Suspense fallback={<LoadingPage />}>
        <LegalPage page={username} />
      </Suspense>
    );
  }
  return isReservedUsername(username) ? <NotFound /> : <PublicProfilePage />;
}
