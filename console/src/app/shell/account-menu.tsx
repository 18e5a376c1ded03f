import { useMutation, useQueryClient } from "@tanstack/react-query";
import { LogOut, UserRound } from "lucide-react";
import { forgetCatalog } from "@/api/catalog";
import { signOut, useSession } from "@/api/session";
import { Menu, MenuHeading, MenuItem } from "@/components/menu";
import { Text } from "@/components/text";
import { toast } from "@/lib/toast";

interface AccountMenuProps {
  entryClass: string;
  nameClass: string;
}

/** The signed-in account with its level and a button to sign out; renders nothing if the console has no sign-in. */
export function AccountMenu({ entryClass, nameClass }: AccountMenuProps) {
  const { account, login } = useSession();
  const client = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      forgetCatalog();
      client.clear();
      // A whole new page: nothing that this account has seen stays in memory.
      window.location.assign("/");
    },
    onError: (error) =>
      toast({ title: "You are still signed in", description: error.message, tone: "danger" }),
  });
  if (!login || account === undefined || account === null) return null;
  return (
    <Menu
      label="Account"
      align="start"
      trigger={
        <button type="button" className={entryClass} title={account.name}>
          <UserRound aria-hidden="true" strokeWidth={1.7} />
          <span className={nameClass}>
            <Text>{account.name}</Text>
          </span>
        </button>
      }
    >
      <MenuHeading>
        <Text>{account.name}</Text> · {account.level}
      </MenuHeading>
      <MenuItem onSelect={() => leave.mutate()}>
        <LogOut aria-hidden="true" />
        Sign out
      </MenuItem>
    </Menu>
  );
}
