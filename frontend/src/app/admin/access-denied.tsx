import { Button } from "@ui/button";
import { Lock } from "lucide-react";
import { Link, useNavigate } from "react-router";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** Shown to signed-in users who are not administrators in place of the admin area. */
export function AccessDenied() {
  const navigate = useNavigate();
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col items-center justify-center gap-4 px-6 text-center">
      <title>{pageTitle("Access Denied")}</title>
      <span aria-hidden="true" className="text-ink-soft">
        <Lock className="size-8" strokeWidth={1.4} />
      </span>
      <h1 className="font-serif text-title">Admin Access Required</h1>
      <p className="text-ink-soft">You don't have permission to access the admin area.</p>
      <div className="mt-3 flex flex-wrap justify-center gap-3">
        <Button variant="primary" asChild>
          <Link to={paths.explore}>Go to Home Page</Link>
        </Button>
        {/* In a new tab there is no page to go back to. */}
        {window.history.length > 1 && <Button onClick={() => navigate(-1)}>Go Back</Button>}
      </div>
    </main>
  );
}
