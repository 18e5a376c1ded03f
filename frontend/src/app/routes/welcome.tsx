import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { sectionPath } from "@/app/routes/explore/explore-params";
import { ProfileForm } from "@/features/profiles/components/profile-form";
import { likedStyleIdsQuery } from "@/features/styles/api/liked-styles";
import { StyleChoice } from "@/features/styles/components/style-choice";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { useSite } from "@/lib/use-site";
import { OwnProfile } from "./profile/own-profile";

/** How many styles make the suggestions of For You. */
const enoughStyles = 3;

/** The first steps after the sign-up, at /welcome: a name, a picture, three styles. Each is saved at once, and all can be left out. */
export function Welcome() {
  const { user } = useSession();
  const { name } = useSite();
  const { data: styles = [] } = useQuery({
    ...likedStyleIdsQuery(user?.id ?? ""),
    enabled: user !== null,
  });
  if (user === null) return null;
  return (
    <section aria-labelledby="welcome-title" className="max-w-2xl xl:max-w-none">
      <title>{pageTitle("Welcome")}</title>
      <h1 id="welcome-title" className="font-serif text-display">
        Welcome to {name}
      </h1>
      <p className="mt-3 text-ink-soft">
        A name, a picture and three styles, and your page is yours. You can change all of it later.
      </p>
      <div className="xl:grid xl:grid-cols-2 xl:gap-x-24">
        {/* One column of the grid, as high as the form, whatever it shows while the profile is loaded. */}
        <div className="min-h-96">
          <OwnProfile>
            {(profile) => (
              <Step
                title="Your name and picture"
                isDone={profile.username !== null && profile.avatar_url !== null}
              >
                <ProfileForm form="short" profile={profile} email={user.email} />
              </Step>
            )}
          </OwnProfile>
        </div>
        <Step title="Three styles that you like" isDone={styles.length >= enoughStyles}>
          <p role="status" className="mb-4 text-ink-soft text-small">
            {styles.length < enoughStyles
              ? `${styles.length} of ${enoughStyles} chosen. They fill For You before you have liked anything.`
              : `${styles.length} chosen. For You begins with outfits in them.`}
          </p>
          <StyleChoice userId={user.id} label="Styles" />
        </Step>
      </div>
      <p className="mt-12 border-line border-t pt-6">
        <Button size="lg" asChild>
          <Link to={sectionPath("for-you")}>See outfits for you</Link>
        </Button>
      </p>
    </section>
  );
}

interface StepProps {
  title: string;
  isDone: boolean;
  children: ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <section className="mt-12">
      <h2 className="mb-5 flex items-center gap-3 font-serif text-heading">
        {title}
        {isDone && (
          <>
            <Check aria-hidden="true" className="size-5 text-success" strokeWidth={1.8} />
            <span className="sr-only">, done</span>
          </>
        )}
      </h2>
      {children}
    </section>
  );
}
