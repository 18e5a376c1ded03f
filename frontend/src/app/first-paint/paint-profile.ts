import { profileTabs } from "@/app/routes/profile/profile-tab-list";
import { accountClasses } from "@/features/account/components/account-classes";
import { accountTexts } from "@/features/account/components/account-texts";
import { readDraft } from "@/features/profiles/api/profile-draft";
import { capitalise } from "@/lib/format";
import type { Profile } from "@/lib/session";
import { button, div, element, input, sitePage, span } from "./elements";
import type { FirstView } from "./first-view";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

/** The first tab of My Profile. What depends on the profile follows when the profile has arrived. */
export function paintMyProfile({ user }: StoredSession, { profile }: UserRows): FirstView {
  const publicLink = span(
    "inline-flex min-h-11 items-center gap-2 text-ink-soft text-small underline decoration-line-strong underline-offset-4",
    "See Public Profile",
    span("size-4"),
  );
  const panel = div("pt-10 max-md:pt-7");
  const page = sitePage(
    div(
      "flex flex-wrap items-baseline justify-between gap-x-8 gap-y-2",
      element("h1", "font-serif text-display", "My Profile"),
      publicLink,
    ),
    div("mt-8", tabList(), panel),
  );
  async function complete(): Promise<void> {
    const own = await profile;
    if (own === null) return;
    if (!own.username) publicLink.remove();
    const account = div("", accountSection());
    account.dataset.wide = "";
    panel.append(div(accountClasses.profileColumns, summary(own, user.email ?? ""), account));
  }
  return { page, complete };
}

function tabList(): HTMLElement {
  const tab =
    "-mb-px inline-flex h-12 min-w-11 shrink-0 items-center justify-center whitespace-nowrap border-b-2 font-medium text-body";
  return div(
    "flex gap-7 overflow-hidden border-line border-b max-md:-mx-4 max-md:gap-6 max-md:px-4",
    ...profileTabs.map(({ label }, index) =>
      span(
        `${tab} ${index === 0 ? "border-accent text-ink" : "border-transparent text-ink-soft"}`,
        label,
      ),
    ),
  );
}

/** The same markup as in `app/routes/profile/profile-summary.tsx`. */
function summary({ username, role }: Profile, email: string): HTMLElement {
  const badge = role === "admin" ? "bg-accent text-on-accent" : "border border-line text-ink-soft";
  return div(
    accountClasses.summary,
    avatarFrame(),
    div(
      accountClasses.summaryText,
      div(
        "flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:justify-center",
        element("h2", "break-words font-serif text-heading", username ?? "No username set"),
        span(`rounded-full px-3 py-0.5 text-label ${badge}`, capitalise(role)),
      ),
      element("p", "mt-1 break-words text-ink-soft", email),
    ),
    // The room of the numbers, which follow.
    div(
      accountClasses.summaryNumbers,
      div("text-caption", div("font-serif text-heading", "\u00a0"), "\u00a0"),
    ),
    button("Edit Profile", "primary"),
  );
}

function avatarFrame(): HTMLElement {
  return span("size-28 shrink-0 rounded-full border border-line bg-raised");
}

function accountSection(): HTMLElement {
  const line = (hint: string, label: string) =>
    div(accountClasses.line, element("p", accountClasses.hint, hint), button(label));
  return div(
    accountClasses.section,
    element("h2", "font-serif text-heading", accountTexts.title),
    line(accountTexts.exportHint, accountTexts.exportButton),
    line(accountTexts.signOutHint, accountTexts.signOutButton),
    line(accountTexts.deleteHint, accountTexts.deleteButton),
  );
}

/** The edit form below this title. Null where a draft replaces what is stored: the app reads drafts. */
export function paintSettings(title: string) {
  return ({ user }: StoredSession, { profile }: UserRows): FirstView | null => {
    if (Object.keys(readDraft(user.id)).length > 0) return null;
    const page = sitePage(element("h1", "mb-10 font-serif text-display", title));
    async function complete(): Promise<void> {
      const own = await profile;
      if (own === null) return;
      const content = page.querySelector("h1")?.parentElement;
      const account = div("", accountSection());
      account.dataset.beside = "";
      content?.append(div(accountClasses.columns, profileForm(own), account));
    }
    return { page, complete };
  };
}

/** The same markup as in `features/profiles/components/profile-form.tsx`. */
function profileForm(profile: Profile): HTMLElement {
  const bio = Object.assign(
    document.createElement("textarea"),
    { rows: 4, value: profile.bio ?? "" },
    { className: `${box} px-4 py-3` },
  );
  return div(
    "flex max-w-2xl flex-col gap-6",
    div("-mb-6"),
    avatarField(profile.avatar_url !== null),
    field(
      "Username",
      line(profile.username),
      `Your page will be ${location.host}/${profile.username || "username"}`,
    ),
    field("Display Name", line(profile.full_name)),
    field("Bio", bio, "Up to 1000 characters."),
    div(
      "flex flex-col gap-6",
      div("-mb-2 font-serif text-name", "Social Links"),
      field("Instagram", line(profile.instagram_url, "https://instagram.com/you")),
      field("Twitter", line(profile.twitter_url, "https://twitter.com/you")),
      field("Website", line(profile.website_url, "https://example.com")),
    ),
    div(
      "flex flex-wrap gap-3",
      button("Update Profile", "primary", "lg"),
      button("Reset", "secondary", "lg"),
    ),
  );
}

function avatarField(hasPicture: boolean): HTMLElement {
  const choose = button(hasPicture ? "Change picture" : "Upload picture");
  const remove = button("Remove", "quiet");
  choose.classList.add("max-sm:px-4");
  remove.classList.add("max-sm:px-3");
  return div(
    "flex items-center gap-5 max-sm:gap-4",
    avatarFrame(),
    div(
      "flex min-w-0 flex-1 flex-col gap-2",
      element("p", "font-medium text-small", "Avatar"),
      div("flex flex-wrap gap-2", choose, ...(hasPicture ? [remove] : [])),
    ),
  );
}

const box = "w-full rounded-md border border-line-strong/70 bg-surface text-body text-ink";

function line(value: string | null, placeholder = ""): HTMLElement {
  return input(`h-12 px-4 placeholder:text-ink-soft ${box}`, { value: value ?? "", placeholder });
}

function field(label: string, control: HTMLElement, hint = ""): HTMLElement {
  return div(
    "",
    div("mb-1.5 flex items-baseline", span("font-medium text-small", label)),
    control,
    div(`text-caption text-ink-soft ${hint && "mt-1.5"}`, hint),
  );
}
