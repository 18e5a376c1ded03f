import {
  Flag,
  Folders,
  FolderTree,
  LayoutDashboard,
  type LucideIcon,
  Palette,
  Settings,
  Shapes,
  Shirt,
  ShoppingBag,
  Sparkles,
  Tags,
  UsersRound,
} from "lucide-react";

export interface AdminSection {
  /** Last segment of the address. */
  path: string;
  label: string;
  icon: LucideIcon;
}

/** The sections of the admin area, in the order of the navigation. Their pages are in `admin-area.tsx`. */
export const adminSections: readonly AdminSection[] = [
  { path: "dashboard", label: "Dashboard", icon: LayoutDashboard },
  { path: "brands", label: "Brands", icon: Tags },
  { path: "categories", label: "Categories", icon: Folders },
  { path: "subcategories", label: "Subcategories", icon: FolderTree },
  { path: "items", label: "Items", icon: ShoppingBag },
  { path: "combines", label: "Outfits", icon: Shirt },
  { path: "colors", label: "Colors", icon: Palette },
  { path: "styles", label: "Item Styles", icon: Shapes },
  { path: "outfit-styles", label: "Outfit Styles", icon: Sparkles },
  { path: "users", label: "Users", icon: UsersRound },
  { path: "reports", label: "Reports", icon: Flag },
  { path: "settings", label: "Settings", icon: Settings },
];
