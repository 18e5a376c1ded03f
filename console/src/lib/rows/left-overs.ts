/**
 * Staged changes that wait in this browser for somebody or something else: for another account, or for another database of the same
 * name, which was made anew or is another project's. They are never applied here unless the reader takes them over.
 */
import { earlierOwnersOf, ownerOf, type Session, storeOf } from "@/api/session";
import { listLocalKeys, localStore, sessionStore } from "@/lib/browser-storage";
import { sentPrefix } from "@/lib/rows/sent-request";
import {
  readStaged,
  type StagedStore,
  stagedPrefix,
  stagedStore,
  writeStaged,
} from "@/lib/rows/staged-store";

export interface LeftOver {
  /** The name of their store. */
  store: string;
  count: number;
  /** The account that staged them; null where it was this one, on another database. */
  account: string | null;
}

const askedKey = (store: string) => `console:asked:${store}`;

/** The staged changes of a session. What earlier versions have kept without the database's key becomes its own, once. */
export function stagedStoreOf(session: Session): StagedStore {
  const store = storeOf(session);
  for (const earlier of earlierOwnersOf(session)) takeOverEarlier(earlier, store);
  return stagedStore(store);
}

function takeOverEarlier(earlier: string, store: string): void {
  const changes = readStaged(earlier);
  if (changes.length === 0 || !writeStaged(store, [...readStaged(store), ...changes])) return;
  localStore.remove(stagedPrefix + earlier);
  const sent = localStore.get(sentPrefix + earlier);
  if (sent === null || localStore.get(sentPrefix + store) !== null) return;
  // Whether it was applied is asked by its id, which no other database knows.
  if (localStore.set(sentPrefix + store, sent)) localStore.remove(sentPrefix + earlier);
}

/** What waits and was not asked about in this tab. `former` is the account that was signed in before in this page. */
export function listLeftOvers(session: Session, former: Session | null): LeftOver[] {
  const own = storeOf(session);
  const found: LeftOver[] = [];
  const add = (store: string, account: string | null) => {
    const count =
      store === own || sessionStore.get(askedKey(store)) !== null ? 0 : readStaged(store).length;
    if (count > 0) found.push({ store, count, account });
  };
  if (former !== null && former.project.name === session.project.name) {
    add(storeOf(former), former.account?.name ?? "");
  }
  const prefix = `${stagedPrefix}${ownerOf(session)}@`;
  for (const key of listLocalKeys()) {
    if (key.startsWith(prefix)) add(key.slice(stagedPrefix.length), null);
  }
  return found;
}

/** Leaves the changes where they are, without asking again in this tab. */
export function leaveLeftOver({ store }: LeftOver): void {
  sessionStore.set(askedKey(store), "1");
}

/** Gives the changes to a session, or to nobody. */
export function moveLeftOver({ store }: LeftOver, to: Session | null): void {
  const from = stagedStore(store);
  from.refresh();
  const changes = from.current();
  if (to !== null) stagedStoreOf(to).update((own) => [...own, ...changes]);
  from.update(() => []);
}
