import {
  Database,
  Fingerprint,
  FolderClosed,
  Gauge,
  KeyRound,
  type LucideIcon,
  Mail,
  ScrollText,
  Settings,
  ShieldCheck,
  Table2,
  Terminal,
  Waypoints,
} from "lucide-react";

export interface Screen {
  /** First segment of the path, and the folder in src/screens. */
  path: string;
  name: string;
  icon: LucideIcon;
  /** The key that opens the screen when it is pressed after `g`. */
  key: string;
  /** Words by which the command palette finds the screen beside its name. */
  words: string;
}

/** Every screen of the console in the rail's order, in groups that a thin line separates. */
export const screenGroups: readonly (readonly Screen[])[] = [
  [
    {
      path: "overview",
      name: "Overview",
      icon: Gauge,
      key: "o",
      words: "home dashboard status advisors performance slow queries",
    },
  ],
  [
    {
      path: "tables",
      name: "Tables",
      icon: Table2,
      key: "t",
      words: "table editor rows data grid",
    },
    { path: "sql", name: "SQL", icon: Terminal, key: "q", words: "query editor snippets" },
    {
      path: "schema",
      name: "Schema",
      icon: Database,
      key: "d",
      words: "database columns indexes functions triggers roles extensions migrations",
    },
    {
      path: "policies",
      name: "Policies",
      icon: ShieldCheck,
      key: "p",
      words: "row level security rls access simulator",
    },
    { path: "api", name: "API", icon: Waypoints, key: "a", words: "explorer docs rest connect" },
  ],
  [
    { path: "users", name: "Users", icon: KeyRound, key: "u", words: "auth authentication" },
    { path: "storage", name: "Storage", icon: FolderClosed, key: "s", words: "buckets files" },
    { path: "mail", name: "Mail", icon: Mail, key: "m", words: "inbox messages outgoing" },
  ],
  [
    { path: "logs", name: "Logs", icon: ScrollText, key: "l", words: "requests tail errors" },
    {
      path: "settings",
      name: "Settings",
      icon: Settings,
      key: "e",
      words: "doctor configuration accounts levels",
    },
    {
      path: "audit",
      name: "Audit",
      icon: Fingerprint,
      key: "h",
      words: "history who changed what",
    },
  ],
];

export const screens: readonly Screen[] = screenGroups.flat();
