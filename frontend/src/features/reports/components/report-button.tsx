import { IconButton } from "@ui/icon-button";
import { Flag } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "@/lib/lazy-part";
import { useSession } from "@/lib/session";
import { useSignInGate } from "@/lib/use-sign-in-gate";
import type { ReportSubject } from "../api/report";

const ReportWindow = lazyPart(
  async () => ({ default: (await import("./report-window")).ReportWindow }),
  "overlay",
);

interface ReportButtonProps {
  subject: ReportSubject;
  /** Name of the outfit or person. */
  name: string;
}

/** Reports an outfit or a person. A visitor signs in first. */
export function ReportButton({ subject, name }: ReportButtonProps) {
  const { user, isLoading } = useSession();
  const [isOpen, setOpen] = useState(false);
  const requireSignIn = useSignInGate();
  return (
    <>
      <IconButton
        label={`Report ${name}`}
        busy={isLoading}
        onClick={() =>
          user === null ? requireSignIn("Please sign in to report this.") : setOpen(true)
        }
      >
        <Flag className="size-5" strokeWidth={1.6} />
      </IconButton>
      {isOpen && user !== null && (
        <Suspense>
          <ReportWindow
            userId={user.id}
            subject={subject}
            name={name}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
