import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Link } from "react-router";
import { EditDialog } from "@/components/admin/edit-dialog";
import { Switch } from "@/components/admin/switch";
import { Avatar } from "@/components/ui/avatar";
import { DetailRow, Details } from "@/components/ui/details";
import { adminRowQuery } from "@/lib/admin-list";
import { formatDate, initialsOf } from "@/lib/format";
import { paths } from "@/lib/paths";
import { type AdminUser, nameOf, readUsers } from "../api/users";

interface UserPanelProps {
  /** As the user was when the panel was opened. */
  user: AdminUser;
  pending: boolean;
  onToggle: (user: AdminUser) => void;
  onClose: () => void;
}

/** One user, to whom a link can lead: who it is, and the role. */
export function UserPanel({ user: opened, pending, onToggle, onClose }: UserPanelProps) {
  // Read again after each change of the role.
  const { data } = useQuery(adminRowQuery("users", opened.id, readUsers));
  const user = data ?? opened;
  const { username, full_name, email, role, created_at, avatar_url } = user;
  return (
    <EditDialog title={nameOf(user)} isDirty={false} onClose={onClose}>
      <div className="flex flex-col gap-5 pb-8">
        <Avatar src={avatar_url} initials={initialsOf(username, email)} size="lg" />
        <Details>
          <DetailRow term="Name">{full_name ?? "None"}</DetailRow>
          <DetailRow term="Username">{username ?? "None"}</DetailRow>
          <DetailRow term="Email">
            <span className="[overflow-wrap:anywhere]">{email ?? "None"}</span>
          </DetailRow>
          <DetailRow term="Joined">{formatDate(created_at)}</DetailRow>
          <DetailRow term="Role">{role}</DetailRow>
        </Details>
        <p className="flex items-center justify-between gap-4 border-line border-t pt-4 font-medium text-small">
          Admin access
          <Switch
            label={`Admin access of ${nameOf(user)}`}
            checked={role === "admin"}
            disabled={pending}
            onChange={() => onToggle(user)}
          />
        </p>
        <div className="flex flex-wrap gap-3">
          <Button asChild>
            <Link to={`${paths.admin("combines")}?creator=${user.id}`}>Outfits</Link>
          </Button>
          {username !== null && (
            <Button asChild>
              <Link to={paths.profile(username)}>Open the public page</Link>
            </Button>
          )}
        </div>
      </div>
    </EditDialog>
  );
}
