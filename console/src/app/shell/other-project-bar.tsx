import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Unplug } from "lucide-react";
import { isSameProject, sessionQuery, useSession } from "@/api/session";
import { Text } from "@/components/text";

/** A bar while another project, or the same one with a new database, answers at this page's address. */
export function OtherProjectBar() {
  const shown = useSession();
  const { data: here } = useQuery(sessionQuery);
  if (here === undefined || isSameProject(shown, here)) return null;
  const isNamedAlike = here.project.name === shown.project.name;
  return (
    <div
      role="alert"
      className="flex min-h-7 shrink-0 flex-wrap items-center justify-center gap-x-3 gap-y-1 border-danger/40 border-b bg-removed px-3 py-1 text-label"
    >
      <span className="flex items-center gap-2">
        <Unplug aria-hidden="true" className="size-3.5 shrink-0 text-danger" />
        <span>
          {isNamedAlike ? (
            <>
              The database of <Text>{shown.project.name}</Text> was made anew, or another project of
              this name runs here.
            </>
          ) : (
            <>
              Another project, <Text>{here.project.name}</Text>, runs at this address now.
            </>
          )}{" "}
          Nothing you do in this page reaches it. What you typed and staged for{" "}
          <Text>{shown.project.name}</Text> is kept.
        </span>
      </span>
      <Button size="dense" onClick={() => window.location.assign("/")}>
        {isNamedAlike ? "Open the new database" : "Open that project"}
      </Button>
    </div>
  );
}
