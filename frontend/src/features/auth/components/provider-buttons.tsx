import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { providersQuery, signInWithProvider } from "../api/providers";
import { providerButtonsShape, providerLabel, signOf } from "./provider-buttons-shape";

/** A "Continue with …" button for each configured provider, with a divider below. After it the given page is opened. */
export function ProviderButtons({ returnPath }: { returnPath: string }) {
  const { data: providers = [] } = useQuery(providersQuery());
  if (providers.length === 0) return null;
  return (
    <div className={providerButtonsShape.list}>
      {providers.map(({ id, label }) => (
        <Button
          key={id}
          size="lg"
          className={signOf(id)}
          onClick={() =>
            signInWithProvider(id, returnPath).catch((error: unknown) =>
              toast(
                "Authentication Error",
                messageOf(error, "An unexpected error occurred. Please try again."),
                "danger",
              ),
            )
          }
        >
          {providerLabel(label)}
        </Button>
      ))}
      <p className={providerButtonsShape.divider}>{providerButtonsShape.dividerText}</p>
    </div>
  );
}
