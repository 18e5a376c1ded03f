import { IconButton } from "@ui/icon-button";
import { Menu as MenuIcon, Search } from "lucide-react";
import { useState } from "react";
import { useSession } from "@/api/session";
import type { Screen } from "@/app/screens";
import { Text } from "@/components/text";
import { lazyModule, useOptionalModule } from "@/lib/lazy-module";

interface PhoneBarProps {
  screen: Screen | undefined;
  onSearch: () => void;
}

const menu = lazyModule(() => import("@/app/shell/phone-menu"));

/** The upper bar on phones: the menu of screens, the name of the present one, and the search. */
export function PhoneBar({ screen, onSearch }: PhoneBarProps) {
  const { project } = useSession();
  const [isOpen, setOpen] = useState(false);
  const found = useOptionalModule(menu, isOpen ? "now" : "idle");
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-line border-b bg-rail px-1 md:hidden">
      <IconButton label="Screens" onClick={() => setOpen(true)}>
        <MenuIcon className="size-5" />
      </IconButton>
      <span className="min-w-0 flex-1 truncate font-medium text-small">
        {screen?.name ?? <Text>{project.name}</Text>}
      </span>
      <IconButton label="Find" onClick={onSearch}>
        <Search className="size-5" />
      </IconButton>
      {isOpen && found !== undefined && <found.PhoneMenu onClose={() => setOpen(false)} />}
    </header>
  );
}
