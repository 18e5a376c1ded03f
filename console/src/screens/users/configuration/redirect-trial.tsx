import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { CircleAlert, CircleCheck } from "lucide-react";
import { useState } from "react";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { tryRedirect } from "./api";

/** Checks whether Auth would redirect browsers to a URL that a sign-in names by `redirectTo`. */
export function RedirectTrial() {
  const [url, setUrl] = useState("");
  const attempt = useMutation({ mutationFn: () => tryRedirect(url.trim()) });
  return (
    <form
      className="grid gap-2 border-line-soft border-t px-3 py-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (url.trim() !== "") attempt.mutate();
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field label="Would a sign-in be sent to this address?">
            {(attributes) => (
              <Input
                {...attributes}
                mono
                type="url"
                placeholder="https://app.example.com/welcome"
                value={url}
                onChange={(event) => {
                  setUrl(event.target.value);
                  attempt.reset();
                }}
              />
            )}
          </Field>
        </div>
        <Button type="submit" size="dense" disabled={url.trim() === ""} pending={attempt.isPending}>
          Look
        </Button>
      </div>
      <div role="status" className="text-caption">
        {attempt.data?.allowed === true && (
          <p className="flex items-center gap-2">
            <CircleCheck aria-hidden="true" className="size-4 shrink-0 text-success" />
            Yes, the settings allow it.
          </p>
        )}
        {attempt.data?.allowed === false && (
          <p className="flex items-center gap-2">
            <CircleAlert aria-hidden="true" className="size-4 shrink-0 text-warning" />
            No: the browser would be sent to site_url instead. Add a pattern to
            additional_redirect_urls.
          </p>
        )}
      </div>
      {attempt.error !== null && (
        <ErrorNotice title="The address could not be examined" error={attempt.error} />
      )}
    </form>
  );
}
