/** The simulator for a request that names its table itself: SQL, REST, or one of the log (`?request=<id>`). */
import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Link } from "react-router";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { useSearchParams } from "@/lib/use-search-params";
import { loggedRequestQuery } from "./queries";
import { Simulator } from "./simulator";

export function SimulatorScreen() {
  const [params] = useSearchParams();
  const id = params.get("request");
  return (
    <ScreenLayout
      title="Simulate a request"
      actions={
        <Button size="dense" variant="quiet" asChild>
          <Link to="/policies">All tables</Link>
        </Button>
      }
    >
      <div className="p-4">
        {id === null ? <Simulator table={null} edited={null} /> : <LoggedRequest id={id} />}
      </div>
    </ScreenLayout>
  );
}

function LoggedRequest({ id }: { id: string }) {
  const logged = useQuery(loggedRequestQuery(id));
  if (logged.isPending) return <SkeletonRows rows={4} label="Loading the request" />;
  if (logged.isLoadingError) {
    return (
      <ErrorState
        title="This request is not in the log any more"
        error={logged.error}
        onRetry={() => void logged.refetch()}
      />
    );
  }
  const { method, path } = logged.data.entry;
  return <Simulator key={id} table={null} edited={null} initial={{ kind: "rest", method, path }} />;
}
