import type { ReactElement } from "react";
import {
  Menu,
  MenuContent,
  MenuHeading,
  MenuRadioGroup,
  MenuRadioItem,
} from "@/components/ui/menu";
import { appearances, chooseAppearance, useAppearance } from "@/lib/theme";

const labels = { "by-page": "By page", light: "Light", dark: "Dark", system: "System" } as const;

/** Chooses between light, dark, the system's setting, and the theme that each page brings. */
export function AppearanceMenu({ trigger }: { trigger: ReactElement }) {
  const current = useAppearance();
  return (
    <Menu trigger={trigger}>
      <MenuContent label="Appearance" narrow>
        <MenuHeading>Appearance</MenuHeading>
        <MenuRadioGroup
          value={current}
          onValueChange={(value) => {
            const chosen = appearances.find((appearance) => appearance === value);
            if (chosen !== undefined) chooseAppearance(chosen);
          }}
        >
          {appearances.map((appearance) => (
            <MenuRadioItem key={appearance} value={appearance}>
              {labels[appearance]}
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
      </MenuContent>
    </Menu>
  );
}
