import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Textarea } from "@/components/input";
import { toast } from "@/lib/toast";
import { type User, updateUser, usersKey } from "./api";
import { diffMetadata, parseMetadata } from "./user-model";

interface UserMetadataProps {
  user: User;
  refusal: string | undefined;
}

/** Both metadata objects as JSON that can be edited. */
export function UserMetadata({ user, refusal }: UserMetadataProps) {
  return (
    <div className="grid gap-5">
      <MetadataForm
        user={user}
        part="user_metadata"
        label="User metadata"
        hint="The user can change it, so no policy may trust it."
        refusal={refusal}
      />
      <MetadataForm
        user={user}
        part="app_metadata"
        label="App metadata"
        hint="Only servers and this console change it. It is part of the user's tokens."
        refusal={refusal}
      />
    </div>
  );
}

interface MetadataFormProps extends UserMetadataProps {
  part: "user_metadata" | "app_metadata";
  label: string;
  hint: string;
}

function MetadataForm({ user, part, label, hint, refusal }: MetadataFormProps) {
  const client = useQueryClient();
  const saved = JSON.stringify(user[part] ?? {}, null, 2);
  const [text, setText] = useState(saved);
  const parsed = parseMetadata(text);
  const save = useMutation({
    mutationFn: (value: Record<string, unknown>) =>
      updateUser(user.id, { [part]: diffMetadata(user[part] ?? {}, value) }),
    onSuccess: async (changed) => {
      setText(JSON.stringify(changed[part] ?? {}, null, 2));
      await client.invalidateQueries({ queryKey: usersKey });
      toast({ title: `${label} saved`, tone: "success" });
    },
  });
  const isChanged = text !== saved;
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if ("value" in parsed) save.mutate(parsed.value);
      }}
    >
      <Field label={label} hint={hint} error={"fault" in parsed ? parsed.fault : undefined}>
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            className="field-sizing-content max-h-96"
            rows={Math.min(16, Math.max(4, text.split("\n").length))}
            readOnly={refusal !== undefined}
            title={refusal}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {isChanged && (
        <div className="flex gap-2">
          <Button
            size="dense"
            variant="primary"
            type="submit"
            disabled={"fault" in parsed}
            pending={save.isPending}
          >
            Save
          </Button>
          <Button size="dense" variant="quiet" onClick={() => setText(saved)}>
            Discard
          </Button>
        </div>
      )}
      {save.isError && <ErrorNotice title={`${label} was not saved`} error={save.error} />}
    </form>
  );
}
