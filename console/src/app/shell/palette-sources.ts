/** What the command palette finds beside screens and tables: actions, users, buckets, and SQL that was run before (CONSOLE-002). */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import {
  Clock,
  FlaskConical,
  FolderClosed,
  type LucideIcon,
  Moon,
  Plug,
  Stethoscope,
  Sun,
  Table2,
  Upload,
  UserRound,
} from "lucide-react";
import { useMemo } from "react";
import { type NavigateFunction, useNavigate } from "react-router";
import { useCatalog } from "@/api/catalog";
import type { Catalog } from "@/api/catalog-model";
import { ownerOf, type Session, useSession } from "@/api/session";
import { readRows } from "@/lib/rows/types";
import { chooseTheme } from "@/lib/theme";
import { addDocument, openDocumentsOf } from "@/screens/sql/documents";
import { listHistory } from "@/screens/sql/run-history";
import { bucketsQuery } from "@/screens/storage/api";
import { nameOfUser, readUserRows, userColumns } from "@/screens/users/user-model";
import { searchUsers } from "@/screens/users/user-search";

/** One line of the command palette. */
export interface PaletteItem {
  id: string;
  title: string;
  /** Small text behind the title, for example the schema. */
  detail?: string;
  icon?: LucideIcon;
  /** More words by which it is found. */
  words?: string;
  /** An address of the console, or what happens. */
  to?: string;
  run?: () => void;
}

/** Lines of one kind: all of them, or those that a search finds. A search is asked again at every change of the text. */
export interface PaletteSource {
  /** Heading of its lines. */
  name: string;
  items?: readonly PaletteItem[];
  search?: (text: string, signal: AbortSignal) => Promise<readonly PaletteItem[]>;
}

/** More lines of one kind would hide those of the others. */
const foundPerSource = 8;

const action = (title: string, icon: LucideIcon, words: string, to: string): PaletteItem => ({
  id: `action:${title}`,
  title,
  icon,
  words,
  to,
});

const actions: readonly PaletteItem[] = [
  action("New table", Table2, "create make", "/schema/tables?new=1"),
  action("Import a file as a new table", Upload, "csv upload", "/tables?import=1"),
  action("Simulate a request", FlaskConical, "policies rls why", "/policies/simulator"),
  action("Connect an app", Plug, "supabase-js url key", "/api"),
  action("Check this instance", Stethoscope, "doctor health", "/settings?tab=doctor"),
  { id: "action:light", title: "Light appearance", icon: Sun, run: () => chooseTheme("light") },
  { id: "action:dark", title: "Dark appearance", icon: Moon, run: () => chooseTheme("dark") },
];

async function findUsers(
  table: string,
  text: string,
  signal: AbortSignal,
): Promise<readonly PaletteItem[]> {
  // A single letter begins half of all addresses.
  if (text.length < 2) return [];
  const { filters, sort } = searchUsers(text, "all", new Date());
  const page = await readRows(
    { table, columns: [...userColumns], filters, sort, limit: foundPerSource },
    signal,
  );
  return readUserRows(page.columns, page.rows).map((user) => ({
    id: `user:${user.id}`,
    title: nameOfUser(user),
    icon: UserRound,
    to: `/users?open=${encodeURIComponent(user.id)}`,
  }));
}

async function findBuckets(client: QueryClient, text: string): Promise<readonly PaletteItem[]> {
  if (text === "") return [];
  const buckets = await client.fetchQuery({ ...bucketsQuery, staleTime: 30_000 });
  return buckets
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, foundPerSource)
    .map(({ id, name }) => ({
      id: `bucket:${id}`,
      title: name,
      icon: FolderClosed,
      to: `/storage?bucket=${encodeURIComponent(id)}`,
    }));
}

function findRecentSql(
  session: Session,
  text: string,
  navigate: NavigateFunction,
): readonly PaletteItem[] {
  if (text === "") return [];
  return listHistory(ownerOf(session))
    .filter((entry) => entry.text.toLowerCase().includes(text.toLowerCase()))
    .slice(0, foundPerSource)
    .map((entry) => ({
      id: `sql:${entry.at}`,
      title: entry.text.replaceAll(/\s+/g, " ").trim().slice(0, 120),
      icon: Clock,
      run: () => {
        openDocumentsOf(session);
        void navigate(`/sql?tab=${addDocument(entry.text)}`);
      },
    }));
}

const findUserTable = (catalog: Catalog | undefined): string | undefined =>
  catalog?.tables.find(({ schema, name }) => schema === "auth" && name === "users")?.oid;

export function usePaletteSources(): readonly PaletteSource[] {
  const client = useQueryClient();
  const navigate = useNavigate();
  const session = useSession();
  const users = findUserTable(useCatalog());
  return useMemo(
    () => [
      { name: "Actions", items: actions },
      {
        name: "Users",
        search: async (text, signal) =>
          users === undefined ? [] : await findUsers(users, text, signal),
      },
      { name: "Buckets", search: (text) => findBuckets(client, text) },
      { name: "Recent SQL", search: async (text) => findRecentSql(session, text, navigate) },
    ],
    [client, navigate, session, users],
  );
}
