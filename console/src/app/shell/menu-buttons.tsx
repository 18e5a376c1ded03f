import { Moon, Sun, SunMoon, UserRound } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { useSession } from "@/api/session";
import { Text } from "@/components/text";
import { lazyModule, useOptionalModule } from "@/lib/lazy-module";
import { useThemeChoice } from "@/lib/theme";

const menus = lazyModule(() => import("@/app/shell/menus"));

interface MenuButtonsProps {
  entryClass: string;
  nameClass: string;
}

/** The buttons of account and appearance; without sign-in there is no account. */
export function MenuButtons({ entryClass, nameClass }: MenuButtonsProps) {
  const { account, login } = useSession();
  const ThemeIcon = { system: SunMoon, light: Sun, dark: Moon }[useThemeChoice()];
  const found = useOptionalModule(menus, "idle");
  const [pressed, setPressed] = useState<"account" | "theme" | null>(null);
  // The buttons work before their menus' script is there: the menu opens as soon as it is.
  const press = (menu: "account" | "theme") => () => {
    setPressed(menu);
    menus.load().catch(() => undefined);
  };
  const button = (props: ComponentProps<"button">) => (
    <button type="button" className={entryClass} {...props} />
  );
  const accountContent = account && (
    <>
      <UserRound aria-hidden="true" strokeWidth={1.7} />
      <span className={nameClass}>
        <Text>{account.name}</Text>
      </span>
    </>
  );
  const themeContent = (
    <>
      <ThemeIcon aria-hidden="true" strokeWidth={1.7} />
      <span className={nameClass}>Appearance</span>
    </>
  );
  const isSignedIn = login && account;
  if (found === undefined) {
    return (
      <>
        {isSignedIn &&
          button({ title: account.name, onClick: press("account"), children: accountContent })}
        {button({ title: "Appearance", onClick: press("theme"), children: themeContent })}
      </>
    );
  }
  return (
    <>
      {isSignedIn && (
        <found.AccountMenu
          account={account}
          isOpenAtFirst={pressed === "account"}
          trigger={button({ title: account.name, children: accountContent })}
        />
      )}
      <found.ThemeMenu
        isOpenAtFirst={pressed === "theme"}
        trigger={button({ title: "Appearance", children: themeContent })}
      />
    </>
  );
}
