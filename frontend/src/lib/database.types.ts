/**
 * The site's database as the client sees it, in the shape that type generators print
 * (docs of supabase-js: `createClient<Database>`). Written by hand after `sql/app/migrations`.
 */
export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Gender = "men" | "women" | "unisex";
export type CombineStatus = "pending" | "approved" | "rejected";
export type Role = "user" | "admin";

/** Insert and Update of a table: `Required` names what has no default. */
interface Table<Row, Required extends keyof Row, Relationships> {
  Row: Row;
  Insert: Partial<Omit<Row, Required>> & Pick<Row, Required>;
  Update: Partial<Row>;
  Relationships: Relationships;
}

interface ForeignKey<
  Name extends string,
  Column extends string,
  Referenced extends string,
  OneToOne extends boolean = false,
> {
  foreignKeyName: Name;
  columns: [Column];
  isOneToOne: OneToOne;
  referencedRelation: Referenced;
  referencedColumns: ["id"];
}

type ProfileRow = {
  id: string;
  username: string | null;
  full_name: string | null;
  avatar_url: string | null;
  bio: string | null;
  instagram_url: string | null;
  twitter_url: string | null;
  website_url: string | null;
  role: Role;
  created_at: string;
};

type CombineRow = {
  id: string;
  user_id: string | null;
  name: string;
  description: string | null;
  meta_description: string | null;
  main_image: string | null;
  image_alt: string | null;
  gender: Gender;
  item_ids: string[];
  outfit_styles: string[];
  slug: string;
  colors: string[];
  status: CombineStatus;
  created_by_admin: boolean;
  approved_by: string | null;
  approved_at: string | null;
  created_at: string;
};

type ItemRow = {
  id: string;
  name: string;
  product_id: number | null;
  description: string | null;
  meta_description: string | null;
  image: string | null;
  price: number;
  brand_id: string;
  category: string | null;
  subcategory_id: string | null;
  gender: Gender;
  source_url: string | null;
  slug: string;
  colors: string[];
  created_at: string;
};

type BrandRow = {
  id: string;
  name: string;
  logo: string | null;
  description: string | null;
  meta_description: string | null;
  created_at: string;
};

type NamedRow = { id: string; name: string; created_at: string };
type ColorRow = NamedRow & { hex_code: string };

type LikeRow = {
  id: string;
  user_id: string;
  combine_id: string | null;
  product_id: string | null;
  created_at: string;
};

type BookmarkRow = { id: string; user_id: string; combine_id: string; created_at: string };

export type Database = {
  public: {
    Tables: {
      profiles: Table<ProfileRow, "id", []>;
      combines: Table<
        CombineRow,
        "name",
        [ForeignKey<"combines_user_id_fkey", "user_id", "profiles">]
      >;
      items: Table<
        ItemRow,
        "name" | "brand_id",
        [ForeignKey<"items_brand_id_fkey", "brand_id", "brands">]
      >;
      brands: Table<BrandRow, "name", []>;
      colors: Table<ColorRow, "name" | "hex_code", []>;
      outfit_styles: Table<NamedRow, "name", []>;
      likes: Table<
        LikeRow,
        "user_id",
        [
          ForeignKey<"likes_combine_id_fkey", "combine_id", "combines">,
          ForeignKey<"likes_product_id_fkey", "product_id", "items">,
        ]
      >;
      bookmarks: Table<
        BookmarkRow,
        "user_id" | "combine_id",
        [ForeignKey<"bookmarks_combine_id_fkey", "combine_id", "combines">]
      >;
    };
    Views: { [_ in never]: never };
    Functions: {
      top_outfits: {
        Args: { since?: string; max_results?: number };
        Returns: CombineRow[];
        SetofOptions: { from: "*"; to: "combines"; isOneToOne: false; isSetofReturn: true };
      };
      username_available: { Args: { candidate: string }; Returns: boolean };
    };
    Enums: { [_ in never]: never };
    CompositeTypes: { [_ in never]: never };
  };
};
