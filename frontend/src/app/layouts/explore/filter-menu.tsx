import type { ReactElement } from "react";
import { Menu, MenuCheckboxItem, MenuContent } from "@/components/ui/menu";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { useGenderFilter } from "./use-gender-filter";

/** Filter by gender, several at a time, on wide screens. */
export function FilterMenu({ trigger }: { trigger: ReactElement }) {
  const { chosen, toggle } = useGenderFilter();
  return (
    <Menu trigger={trigger}>
      <MenuContent label="Filter by gender" narrow>
        {genders.map((gender) => (
          <MenuCheckboxItem
            key={gender}
            checked={chosen.includes(gender)}
            onCheckedChange={() => toggle(gender)}
          >
            {capitalise(gender)}
          </MenuCheckboxItem>
        ))}
      </MenuContent>
    </Menu>
  );
}
