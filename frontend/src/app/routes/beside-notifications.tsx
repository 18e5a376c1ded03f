import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Link, type To } from "react-router";
import { mailNoticesQuery } from "@/features/mail-settings/api/mail-settings";
import { OwnNumbers } from "@/features/profiles/components/own-numbers";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** Beside the list of notifications: what they add up to, and whether they come by mail as well. */
export function BesideNotifications({ userId }: { userId: string }) {
  const { profile } = useSession();
  const { data: notices } = useQuery(mailNoticesQuery(userId));
  return (
    <aside aria-label="Your page and mails" className="mt-12 grid gap-4 lg:mt-0">
      <Card
        title="Your page"
        link={
          profile?.username
            ? { to: paths.profile(profile.username), label: "See your page" }
            : { to: paths.editProfile, label: "Choose a username" }
        }
      >
        <OwnNumbers
          userId={userId}
          className="mb-2 grid grid-cols-4 gap-x-3 gap-y-3 lg:grid-cols-2"
        />
      </Card>
      <Card
        title="By mail"
        link={{ to: `${paths.profileSettings}#mails`, label: "Change your mails" }}
      >
        <p className="min-h-15 text-ink-soft text-small">
          {notices === undefined
            ? null
            : notices
              ? "What you have not read within a quarter of an hour is mailed to you; likes and followers once a day."
              : "Nothing of this is mailed to you."}
        </p>
      </Card>
    </aside>
  );
}

interface CardProps {
  title: string;
  link: { to: To; label: string };
  children: ReactNode;
}

function Card({ title, link, children }: CardProps) {
  const titleId = useId();
  return (
    <section
      aria-labelledby={titleId}
      className="flex flex-col rounded-md border border-line bg-surface px-5 pt-5 pb-4"
    >
      <h2 id={titleId} className="mb-3 font-serif text-name">
        {title}
      </h2>
      {children}
      <Link
        to={link.to}
        className="mt-auto inline-flex min-h-11 items-center gap-1.5 self-start text-small underline decoration-line-strong underline-offset-4 hover:decoration-ink"
      >
        {link.label}
        <ArrowRight aria-hidden="true" className="size-4" strokeWidth={1.6} />
      </Link>
    </section>
  );
}
