import type { ReadList } from "@/lib/admin-list";
import type { Role } from "@/lib/database";
import { messageOf, rowsOf, ServiceError } from "@/lib/service-error";
import { useSession } from "@/lib/session";
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

export function nameOf({ username, full_name, email }: AdminUser): string {
  return username ?? full_name ?? email ?? "User";
}

/** A page of users. The function returns the total in each row, so a page after the end has no total. */
export const readUsers: ReadList<AdminUser> = async (request, signal) => {
  const { term, from, to, id, filters } = request;
  const role = roles.find((one) => one === filters.role);
  const rows = rowsOf(
    await supabase
      .rpc("list_users", {
        term: id ?? term,
        page_offset: from,
        max_results: to - from + 1,
        ...(role !== undefined && id === undefined && { with_role: role }),
      })
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

export function otherRole(role: Role): Role {
  return role === "admin" ? "user" : "admin";
}

const conflict = 409;

/**
 * Gives the user the role, unless they have it by now: another administrator has given it, and an Undo here would take that back. An
 * Undo itself has nothing to do then, either.
 */
async function setRole(id: string, role: Role) {
  const found = await supabase.rpc("list_users", { term: id, page_offset: 0, max_results: 1 });
  if (rowsOf(found)[0]?.role === role) {
    throw new ServiceError(`The role is “${role}” already.`, "", conflict);
  }
  return rowsOf(await supabase.rpc("set_user_role", { user_id: id, new_role: role }));
}

export function useSetRole() {
  const { user: me } = useSession();
  return useAdminChange({
    change: ({ id, role }: { id: string; role: Role }) => setRole(id, role),
    success: "User role updated",
    // An administrator who gave up the role cannot take it back.
    undo: ({ id, role }) => (id === me?.id ? null : () => setRole(id, otherRole(role))),
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
