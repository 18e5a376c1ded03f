import { useQuery } from "@tanstack/react-query";
import { Button } from "@/components/ui/button";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { providersQuery, signInWithProvider } from "../api/providers";

/** A "Continue with …" button for each configured provider, with a divider below. */
export function ProviderButtons() {
  const { data: providers = [] } = useQuery(providersQuery());
  if (providers.length === 0) return null;
  return (
    <div className="mb-6 flex flex-col gap-3">
      {providers.map(({ id, label }) => (
        <Button
          key={id}
          size="lg"
          onClick={() =>
            signInWithProvider(id).catch((error: unknown) =>
              toast(
                "Authentication Error",
                messageOf(error, "An unexpected error occurred. Please try again."),
                "danger",
              ),
            )
          }
        >
          Continue with {label}
        </Button>
      ))}
      <p className="mt-3 flex items-center gap-4 text-caption text-ink-soft before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        Or continue with
      </p>
    </div>
  );
}
