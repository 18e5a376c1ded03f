import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ErrorNotice } from "@/components/ui/error-notice";
import { mailNoticesQuery, useSetMailNotices } from "../api/mail-settings";

/** The switch of notices by mail; the mails lead here to be switched off. */
export function MailNotices({ userId }: { userId: string }) {
  const notices = useQuery(mailNoticesQuery(userId));
  const setNotices = useSetMailNotices(userId);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // It is loaded after the page, so the browser has looked in vain for what the link of a mail names.
    if (window.location.hash === "#mails") section.current?.scrollIntoView();
  }, []);
  return (
    <section
      ref={section}
      id="mails"
      aria-labelledby="mails-title"
      className="mt-10 max-w-2xl scroll-mt-24"
    >
      <h2 id="mails-title" className="font-serif text-heading">
        Mails
      </h2>
      {notices.isLoadingError ? (
        <ErrorNotice
          title="Which mails you want could not be loaded."
          error={notices.error}
          onRetry={notices.refetch}
        />
      ) : (
        <label className="mt-4 flex min-h-11 cursor-pointer items-start gap-3">
          <input
            type="checkbox"
            className="mt-0.5 size-5 shrink-0 accent-accent"
            checked={notices.data ?? true}
            disabled={notices.data === undefined}
            onChange={(event) => setNotices.mutate(event.target.checked)}
          />
          <span className="min-w-0">
            Notices by mail
            <span className="mt-0.5 block text-ink-soft text-small">
              What you have not read here within a quarter of an hour: decisions about your outfits,
              and once a day likes and followers. Mails about your account are always sent.
            </span>
          </span>
        </label>
      )}
    </section>
  );
}
