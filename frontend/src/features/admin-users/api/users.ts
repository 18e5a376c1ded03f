import type { ReadList } from "@/lib/admin-list";
import type { Role } from "@/lib/database";
import { messageOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export const roles = ["user", "admin"] as const satisfies Role[];

export interface AdminUser {
  id: string;
  username: string | null;
  full_name: string | null;
  avatar_url: string | null;
  role: Role;
  email: string | null;
  created_at: string;
}

/** A page of users. The function counts them in each row, so a page behind the end has no count. */
export const readUsers: ReadList<AdminUser> = async ({ term, from, to }, signal) => {
  const rows = rowsOf(
    await supabase
      .rpc("list_users", { term, page_offset: from, max_results: to - from + 1 })
      .abortSignal(signal),
  );
  return {
    rows: rows.map(({ total: _, role, ...row }) => ({
      ...row,
      role: role === "admin" ? "admin" : "user",
    })),
    total: rows[0]?.total ?? 0,
  };
};

export function useSetRole() {
  return useAdminChange({
    change: async ({ id, role }: { id: string; role: Role }) =>
      rowsOf(await supabase.rpc("set_user_role", { user_id: id, new_role: role })),
    success: "User role updated",
    failure: "Failed to update user role",
    failureText: (error) => messageOf(error, "Please try again."),
  });
}

export function useSetRoleByEmail() {
  return useAdminChange({
    change: async ({ email, role }: { email: string; role: Role }) =>
      rowsOf(await supabase.rpc("set_user_role_by_email", { user_email: email, new_role: role })),
    success: "Role updated successfully",
    failure: "Failed to update user role",
    failureText: (error) => messageOf(error, "Please try again."),
  });
}
