import { useQueryClient } from "@tanstack/react-query";
import type { Session } from "@/api/session";
import { SignInForm } from "@/app/sign-in-form";
import { Text } from "@/components/text";

/** The sign-in page. */
export function SignIn({ session }: { session: Session }) {
  const client = useQueryClient();
  const { accounts = true, project = false } = session.sign_in ?? {};
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto bg-rail p-4">
      <div className="w-full max-w-sm rounded-md border border-line bg-raised p-6 shadow-raised">
        {session.mode === "serve" && (
          <div aria-hidden="true" className="-mx-6 -mt-6 mb-5 h-1.5 rounded-t-md bg-production" />
        )}
        <h1 className="truncate font-medium text-name">
          <Text>{session.project.name}</Text>
        </h1>
        <p className="mt-0.5 mb-5 text-ink-soft">Sign in to the console</p>
        <SignInForm session={session} onSignedIn={() => void client.invalidateQueries()} />
        <p className="mt-5 border-line border-t pt-3 text-ink-soft text-label">
          {accounts && (
            <>
              Accounts are made on the server by <code>selvedge console user add</code>.{" "}
            </>
          )}
          {project && "Users of the project need a level and a second factor."}
        </p>
      </div>
    </main>
  );
}
