import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { Field } from "@ui/field";
import { ChevronDown } from "lucide-react";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation, useSearchParams } from "react-router";
import { Select } from "@/components/admin/controls";
import { Input } from "@/components/ui/input";
import type { Role } from "@/lib/database";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";
import { roles, useSetRoleByEmail } from "../api/users";

/** Milliseconds after which `autoupdate=true` submits the card. */
const autoUpdateMs = 500;

/** History state of a link inside the site that may submit the card; no other site can set it. */
export interface AutoUpdateState {
  mayAutoUpdate?: boolean;
}

function mayAutoUpdate(state: unknown): boolean {
  return (
    typeof state === "object" &&
    state !== null &&
    "mayAutoUpdate" in state &&
    state.mayAutoUpdate === true
  );
}

interface RoleCardProps {
  /** The administrator wants to give up the own role, which is asked about first. */
  onLeave: () => void;
}

/**
 * Sets the role of a user by e-mail address. The address of the page may fill it in (`email`) and submit it (`autoupdate=true`).
 * A link on another site could name any person, so the card is only submitted by itself when a link of this site led here;
 * otherwise it is filled in and waits for a click. On phones it is folded away until then, so that the users come first.
 */
export function RoleCard({ onLeave }: RoleCardProps) {
  const { user: me } = useSession();
  const [params] = useSearchParams();
  const { state } = useLocation();
  const [email, setEmail] = useState(params.get("email") ?? "");
  const [role, setRole] = useState<Role>("admin");
  const { mutate, isPending } = useSetRoleByEmail();
  const wantsUpdate = params.get("autoupdate") === "true" && params.get("email") !== null;
  const isAutomatic = wantsUpdate && mayAutoUpdate(state);
  const [isOpen, setOpen] = useState(email !== "");
  const fieldsId = useId();
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!wantsUpdate) return;
    if (!isAutomatic) {
      button.current?.focus();
      return;
    }
    const timer = window.setTimeout(
      () => mutate({ email: params.get("email") ?? "", role: "admin" }),
      autoUpdateMs,
    );
    // A reload has the same history state; it must not change the role once more.
    window.history.replaceState({ ...window.history.state, usr: null }, "");
    return () => window.clearTimeout(timer);
  }, [wantsUpdate, isAutomatic, params, mutate]);

  function submit(event: FormEvent) {
    event.preventDefault();
    const address = email.trim();
    if (address === "") toast("Email required", "Please enter a user email", "danger");
    else if (role !== "admin" && address.toLowerCase() === me?.email?.toLowerCase()) onLeave();
    else mutate({ email: address, role });
  }

  return (
    <form
      noValidate
      onSubmit={submit}
      aria-labelledby="role-card"
      className="mt-4 rounded-md border border-line bg-surface sm:p-4"
    >
      <h2 id="role-card" className="font-medium text-small sm:mb-3">
        <span className="max-sm:hidden">Set a role by email</span>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={fieldsId}
          onClick={() => setOpen(!isOpen)}
          className="flex min-h-12 w-full items-center justify-between gap-3 rounded-md px-4 sm:hidden"
        >
          Set a role by email
          <ChevronDown
            aria-hidden="true"
            className={cn("size-4 text-ink-soft transition-transform", isOpen && "rotate-180")}
            strokeWidth={1.6}
          />
        </button>
      </h2>
      <div
        id={fieldsId}
        className={cn(
          "grid items-end gap-3 max-sm:px-4 max-sm:pb-4 sm:grid-cols-[minmax(0,28rem)_10rem_auto] sm:justify-start",
          !isOpen && "max-sm:hidden",
        )}
      >
        <Field label="Email">
          {(attributes) => (
            <Input
              type="email"
              autoComplete="off"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
              {...attributes}
            />
          )}
        </Field>
        <Field label="Role">
          {(attributes) => (
            <Select
              value={role}
              onChange={(event) =>
                setRole(roles.find((one) => one === event.target.value) ?? "user")
              }
              {...attributes}
            >
              {roles.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          )}
        </Field>
        <Button ref={button} type="submit" variant="primary" size="lg" pending={isPending}>
          Update Role
        </Button>
      </div>
      {wantsUpdate && !isAutomatic && (
        <p role="status" className="text-ink-soft text-small max-sm:px-4 max-sm:pb-4 sm:mt-3">
          A link filled in this address. Check it before you change the role.
        </p>
      )}
    </form>
  );
}
