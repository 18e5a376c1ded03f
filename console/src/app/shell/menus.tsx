/** The menus of account and appearance. A script of its own, because the first paint shows only their buttons. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import type { ReactElement } from "react";
import { forgetCatalog } from "@/api/catalog";
import { type Session, signOut } from "@/api/session";
import { Menu, MenuHeading, MenuItem, MenuRadioGroup, MenuRadioItem } from "@/components/menu";
import { Text } from "@/components/text";
import { chooseTheme, type ThemeChoice, themeChoices, useThemeChoice } from "@/lib/theme";
import { toast } from "@/lib/toast";

interface ShellMenuProps {
  /** The button that opens the menu. */
  trigger: ReactElement;
  /** Whether the menu is open from the beginning, because its button was pressed before this script was there. */
  isOpenAtFirst: boolean;
}

/** The signed-in account with its level and a button to sign out. */
export function AccountMenu({
  account,
  ...menu
}: ShellMenuProps & { account: NonNullable<Session["account"]> }) {
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
  return (
    <Menu label="Account" align="start" {...menu}>
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

const themeNames: Record<ThemeChoice, string> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
};

export function ThemeMenu(menu: ShellMenuProps) {
  const choice = useThemeChoice();
  return (
    <Menu label="Appearance" align="start" {...menu}>
      <MenuRadioGroup
        value={choice}
        onValueChange={(value) => {
          const chosen = themeChoices.find((theme) => theme === value);
          if (chosen !== undefined) chooseTheme(chosen);
        }}
      >
        {themeChoices.map((theme) => (
          <MenuRadioItem key={theme} value={theme}>
            {themeNames[theme]}
          </MenuRadioItem>
        ))}
      </MenuRadioGroup>
    </Menu>
  );
}
