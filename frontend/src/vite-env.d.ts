/// <reference types="vite/client" />

interface ImportMetaEnv {
  /** Where the services are, when they are not where the page came from. */
  readonly VITE_SUPABASE_URL?: string;
  /** The publishable key, for pages that no Selvedge server has served. */
  readonly VITE_SUPABASE_KEY?: string;
}
