import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { useSite } from "@/lib/use-site";

interface Part {
  title: string;
  text: string;
}

const terms: readonly Part[] = [
  {
    title: "What you publish",
    text: "Outfits, names, pictures and words that you publish stay yours. You allow this site to show them to everybody, in lists, in search and in previews of links, for as long as they are published.",
  },
  {
    title: "What you may not publish",
    text: "Pictures and words of others without their consent, people who have not agreed to be shown, insults, hatred, nudity, advertising that does not say what it is, and anything that is against the law.",
  },
  {
    title: "Reviews",
    text: "An administrator may look at an outfit before it is published, take it offline later, and says why. An outfit that was not approved can be changed and submitted again. Everybody can report outfits and people; administrators decide.",
  },
  {
    title: "Shops",
    text: "Prices and shops of items are those of the day on which somebody entered them. What you buy, you buy from the shop.",
  },
  {
    title: "Your account",
    text: "Keep your password to yourself. You can delete your account at any time; published outfits then stay without your name. Accounts that break these terms may be closed.",
  },
];

const privacy: readonly Part[] = [
  {
    title: "What everybody sees",
    text: "Your username, name, picture, bio and links, your published outfits, how many people like them, and how many follow you and whom you follow, as numbers.",
  },
  {
    title: "What only you see",
    text: "Your mail address, your bookmarks and collections, what you like, whom you have blocked, your notifications, drafts, and pictures of outfits on you. Who has the link of a collection that you share sees its name and outfits. Administrators read what you report. The creator of an outfit learns that you like it or follow them.",
  },
  {
    title: "Your training photos",
    text: "They lie in a private folder. You and administrators see them; the server makes your pictures from them, by itself or with the service that the operator has set up. What a camera writes into a photo, such as its place, is removed before it leaves your device.",
  },
  {
    title: "In your browser",
    text: "This site sets no cookies and has no trackers. Your session, drafts and the chosen appearance are kept in the storage of your browser; signing out removes the session. Public pages and pictures that you have seen are kept for times without a network; signing out removes them, too.",
  },
  {
    title: "How long, and how to take it along",
    text: "Everything is kept until you delete it or your account. Your account has a button that saves all of it as one file, and one that deletes the account with its files. Logs of the server have addresses of the network for as long as the operator keeps them.",
  },
];

const pages = {
  terms: {
    title: "Terms",
    parts: terms,
    other: { to: paths.privacy, label: "Privacy" },
  },
  privacy: {
    title: "Privacy",
    parts: privacy,
    other: { to: paths.terms, label: "Terms" },
  },
} as const;

/** The terms, and what happens to personal data, at /terms and /privacy. */
export function LegalPage({ page }: { page: keyof typeof pages }) {
  const { title, parts, other } = pages[page];
  const { name } = useSite();
  return (
    <article className="mx-auto max-w-2xl pt-4">
      <title>{pageTitle(title)}</title>
      <h1 className="font-serif text-display">{title}</h1>
      <p className="mt-4 text-ink-soft">
        {page === "terms"
          ? `What you may do on ${name}, and what happens to what you publish.`
          : `What ${name} keeps about you, who sees it, and how you take it along or delete it.`}
      </p>
      {parts.map((part) => (
        <section key={part.title} className="mt-10">
          <h2 className="font-serif text-heading">{part.title}</h2>
          <p className="mt-3 text-pretty text-body text-ink-soft">{part.text}</p>
        </section>
      ))}
      <p className="mt-14 border-line border-t pt-4 text-small">
        <Link
          to={other.to}
          className="inline-flex min-h-11 min-w-12 items-center underline decoration-line-strong underline-offset-4"
        >
          {other.label}
        </Link>
      </p>
    </article>
  );
}
