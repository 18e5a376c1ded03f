import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { Select } from "@/components/admin/controls";
import { DataTable } from "@/components/admin/data-table";
import { Pagination } from "@/components/admin/pagination";
import { SectionPage } from "@/components/admin/section-page";
import { useSession } from "@/lib/session";
import { useAdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { type AdminUser, otherRole, readUsers, roles, useSetRole } from "../api/users";
import { RoleCard } from "./role-card";
import { userColumns } from "./user-columns";
import { UserPanel } from "./user-panel";

const filters = ["role"];

const roleLabels = { user: "Users", admin: "Administrators" };

/** Users and their roles. */
export function UserSection() {
  const { user: me } = useSession();
  const table = useAdminTable({
    section: "users",
    read: readUsers,
    pageSize: 20,
    sort: "created_at",
    ascending: false,
    filters,
  });
  const setRole = useSetRole();
  const giveUp = useSetRole();
  const opened = useOpenRow(table, "User");
  const [isLeaving, setLeaving] = useState(false);

  function toggle(user: AdminUser) {
    // Giving up the own role closes the admin area immediately.
    if (user.id === me?.id && user.role === "admin") setLeaving(true);
    else setRole.mutate({ id: user.id, role: otherRole(user.role) });
  }

  return (
    <SectionPage
      title="Users"
      query={table.request.term}
      onSearch={table.search}
      searchPlaceholder="Search users..."
      controls={
        <Select
          isFilter
          aria-label="Filter by role"
          value={table.request.filters.role ?? ""}
          onChange={(event) => table.setFilter("role", event.target.value)}
        >
          <option value="">All roles</option>
          {roles.map((role) => (
            <option key={role} value={role}>
              {roleLabels[role]}
            </option>
          ))}
        </Select>
      }
      before={<RoleCard onLeave={() => setLeaving(true)} />}
    >
      <DataTable
        label="Users"
        table={table}
        columns={userColumns(setRole.isPending, toggle, opened.open)}
        empty="No users found."
        onOpen={opened.open}
      />
      <Pagination table={table} noun="users" />
      {opened.row !== null && (
        <UserPanel
          user={opened.row}
          pending={setRole.isPending}
          onToggle={toggle}
          onClose={opened.close}
        />
      )}
      {isLeaving && me !== null && (
        <ConfirmDialog
          title="Give up your own admin access?"
          text="You leave the admin area at once. Another administrator can give it back."
          action="Give up"
          pending={giveUp.isPending}
          onConfirm={() =>
            giveUp.mutate({ id: me.id, role: "user" }, { onSettled: () => setLeaving(false) })
          }
          onCancel={() => setLeaving(false)}
        />
      )}
    </SectionPage>
  );
}
