import { Badge } from "@/components/badge";
import { RowGrid } from "@/components/row-grid";
import { Text } from "@/components/text";
import { formatAge } from "@/lib/format";
import { badgesOf, nameOfUser, parseTime, type UserRow } from "./user-model";

interface UserListProps {
  users: readonly UserRow[];
  total: number | undefined;
  open: string | null;
  onOpen: (user: UserRow) => void;
  onEndReached: () => void;
}

/** Users with their state, newest first or in the order of the search. */
export function UserList({ users, total, open, onOpen, onEndReached }: UserListProps) {
  const now = new Date();
  return (
    <RowGrid
      label="Users"
      rows={users}
      rowKey={({ id }) => id}
      openKey={open}
      onOpen={onOpen}
      onEndReached={onEndReached}
      total={total}
      columns={[
        {
          key: "name",
          header: "User",
          width: "minmax(0,1.4fr)",
          cell: (user) => (
            <>
              <span className="truncate">
                <Text>{nameOfUser(user)}</Text>
              </span>
              {badgesOf(user, now).map(({ label, tone }) => (
                <Badge key={label} tone={tone}>
                  {label}
                </Badge>
              ))}
            </>
          ),
        },
        {
          key: "id",
          header: "Id",
          width: "19rem",
          wideOnly: true,
          cell: ({ id }) => (
            <code className="truncate font-mono text-ink-soft text-label">{id}</code>
          ),
        },
        {
          key: "providers",
          header: "Signs in by",
          width: "minmax(0,0.6fr)",
          wideOnly: true,
          cell: ({ providers }) => (
            <span className="truncate text-ink-soft">
              <Text>{providers.join(", ") || "–"}</Text>
            </span>
          ),
        },
        {
          key: "created",
          header: "Created",
          width: "5rem",
          align: "end",
          cell: ({ createdAt }) => <Age time={createdAt} />,
        },
        {
          key: "seen",
          header: "Signed in",
          width: "6rem",
          align: "end",
          wideOnly: true,
          cell: ({ lastSignInAt }) => <Age time={lastSignInAt} />,
        },
      ]}
    />
  );
}

function Age({ time }: { time: string | null }) {
  const date = parseTime(time);
  if (date === null) return <span className="text-ink-soft">never</span>;
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} className="text-ink-soft">
      {formatAge(date.getTime())}
    </time>
  );
}
