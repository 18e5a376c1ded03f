/** The menu of screens on phones. */
import { cn } from "@ui/cn";
import { NavLink } from "react-router";
import { useSession } from "@/api/session";
import { screens } from "@/app/screens";
import { MenuButtons } from "@/app/shell/menu-buttons";
import { Dialog } from "@/components/dialog";
import { Text } from "@/components/text";

export function PhoneMenu({ onClose }: { onClose: () => void }) {
  const { project } = useSession();
  return (
    <Dialog title={<Text>{project.name}</Text>} isDirty={false} onClose={onClose}>
      <nav aria-label="Screens">
        <ul className="grid grid-cols-2 gap-2">
          {screens.map(({ path, name, icon: Icon }) => (
            <li key={path}>
              <NavLink
                to={`/${path}`}
                onClick={onClose}
                className={({ isActive }) =>
                  cn(
                    "flex h-12 items-center gap-3 rounded-sm border border-line px-3 text-small",
                    isActive && "border-accent",
                  )
                }
              >
                <Icon aria-hidden="true" className="size-4.5 text-ink-soft" strokeWidth={1.7} />
                {name}
              </NavLink>
            </li>
          ))}
        </ul>
      </nav>
      <div className="mt-4 grid gap-1 border-line border-t pt-3">
        <MenuButtons entryClass="flex h-11 items-center gap-3 px-1 [&_svg]:size-4.5" nameClass="" />
      </div>
    </Dialog>
  );
}
