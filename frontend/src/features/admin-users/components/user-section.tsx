import { Switch } from "radix-ui";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { type Column, DataTable } from "@/components/admin/data-table";
import { Pagination } from "@/components/admin/pagination";
import { SectionPage } from "@/components/admin/section-page";
import { Avatar } from "@/components/ui/avatar";
import { initialsOf } from "@/lib/format";
import { useSession } from "@/lib/session";
import { useAdminTable } from "@/lib/use-admin-table";
import { type AdminUser, readUsers, useSetRole } from "../api/users";
import { RoleCard } from "./role-card";

function nameOf({ username, full_name, email }: AdminUser): string {
  return username ?? full_name ?? email ?? "User";
}

/** Users and their roles. */
export function UserSection() {
  const { user: me } = useSession();
  const table = useAdminTable({
    section: "users",
    read: readUsers,
    pageSize: 20,
    sort: "created_at",
    ascending: false,
  });
  const setRole = useSetRole();
  const [leaving, setLeaving] = useState<AdminUser | null>(null);

  function toggle(user: AdminUser) {
    // Taking the right from oneself closes the admin area at once.
    if (user.id === me?.id && user.role === "admin") setLeaving(user);
    else setRole.mutate({ id: user.id, role: user.role === "admin" ? "user" : "admin" });
  }

  const columns: readonly Column<AdminUser>[] = [
    {
      header: "User",
      // The address below the name is cut off on phones instead of widening the table.
      className: "max-md:w-full max-md:max-w-0",
      cell: (user) => (
        <span className="flex items-center gap-3">
          <Avatar src={user.avatar_url} initials={initialsOf(user.username, user.email)} />
          <span className="min-w-0">
            <span className="block truncate font-medium">{nameOf(user)}</span>
            <span className="block truncate text-caption text-ink-soft md:hidden">
              {user.email}
            </span>
          </span>
        </span>
      ),
    },
    { header: "Email", className: "max-md:hidden text-ink-soft", cell: ({ email }) => email },
    {
      header: "Role",
      className: "w-20 max-sm:hidden",
      cell: ({ role }) => (
        <span className="rounded-full border border-line px-2 text-caption">{role}</span>
      ),
    },
    {
      header: "Admin Access",
      className: "w-32 text-right",
      cell: (user) => (
        <Switch.Root
          checked={user.role === "admin"}
          disabled={setRole.isPending}
          aria-label={`Admin access of ${nameOf(user)}`}
          onCheckedChange={() => toggle(user)}
          className="relative inline-flex h-6 w-10 rounded-full bg-line-strong align-middle transition-colors after:absolute after:-inset-2.5 data-[state=checked]:bg-success disabled:opacity-60"
        >
          <Switch.Thumb className="m-0.5 block size-5 rounded-full bg-raised transition-transform data-[state=checked]:translate-x-4" />
        </Switch.Root>
      ),
    },
  ];

  return (
    <SectionPage
      title="Users"
      query={table.request.term}
      onSearch={table.search}
      searchPlaceholder="Search users..."
      before={<RoleCard />}
    >
      <DataTable label="Users" table={table} columns={columns} empty="No users found." />
      <Pagination page={table.page} pageCount={table.pageCount} onPage={table.setPage} />
      {leaving !== null && (
        <ConfirmDialog
          title="Give up your own admin access?"
          text="You leave the admin area at once. Another administrator can give it back."
          action="Give up"
          pending={setRole.isPending}
          onConfirm={() =>
            setRole.mutate({ id: leaving.id, role: "user" }, { onSettled: () => setLeaving(null) })
          }
          onCancel={() => setLeaving(null)}
        />
      )}
    </SectionPage>
  );
}
