import type { Column } from "@/components/admin/data-table";
import { Switch } from "@/components/admin/switch";
import { Avatar } from "@/components/ui/avatar";
import { initialsOf } from "@/lib/format";
import { type AdminUser, nameOf } from "../api/users";

/** Columns of the table of users. `isPending` disables the switches while a change of a role is on its way. */
export function userColumns(
  isPending: boolean,
  onToggle: (user: AdminUser) => void,
  onOpen: (user: AdminUser) => void,
): readonly Column<AdminUser>[] {
  return [
    {
      header: "User",
      // The address below the name is cut off on phones instead of widening the table.
      className: "max-md:w-full max-md:max-w-0",
      cell: (user) => (
        <span className="flex items-center gap-3">
          <Avatar src={user.avatar_url} initials={initialsOf(user.username, user.email)} />
          <span className="min-w-0">
            <button
              type="button"
              onClick={() => onOpen(user)}
              className="block max-w-full truncate py-1 font-medium hover:underline"
            >
              {nameOf(user)}
            </button>
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
        <Switch
          label={`Admin access of ${nameOf(user)}`}
          checked={user.role === "admin"}
          disabled={isPending}
          onChange={() => onToggle(user)}
        />
      ),
    },
  ];
}
