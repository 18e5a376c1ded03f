import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import type { Setting } from "@/api/settings";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { Text } from "@/components/text";
import { formatDuration } from "@/lib/format";
import { writeExact } from "@/lib/json-text";
import { type HookTrial, tryHook } from "./api";
import { Card, SettingLines } from "./part";

interface HookCardProps {
  name: string;
  settings: readonly Setting[];
}

/** An enabled hook with its settings, and a button to call it with a sample payload. */
export function HookCard({ name, settings }: HookCardProps) {
  const [isOpen, setOpen] = useState(false);
  const uri = settings.find(({ key }) => key.endsWith(".uri"))?.value;
  const isFunction = typeof uri === "string" && uri.startsWith("pg-functions:");
  return (
    <Card
      name={name}
      badge={<Badge>{isFunction ? "function" : "endpoint"}</Badge>}
      action={
        <Button size="dense" onClick={() => setOpen(true)}>
          Call with a sample
        </Button>
      }
    >
      <SettingLines settings={settings} />
      {isOpen && <HookDialog name={name} isFunction={isFunction} onClose={() => setOpen(false)} />}
    </Card>
  );
}

interface HookDialogProps {
  name: string;
  isFunction: boolean;
  onClose: () => void;
}

function HookDialog({ name, isFunction, onClose }: HookDialogProps) {
  const [user, setUser] = useState("");
  const call = useMutation({ mutationFn: () => tryHook(name, user.trim()) });
  return (
    <Dialog
      title={`Call ${name}`}
      description={
        isFunction
          ? "Auth calls the function as it does for users; what it writes is rolled back."
          : "The endpoint is really called, with a signature as for users. If it sends messages, it sends one to the sample."
      }
      width="wide"
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Close
          </Button>
          <Button
            size="dense"
            variant="primary"
            pending={call.isPending}
            onClick={() => call.mutate()}
          >
            Call it
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Field label="Id of a user" hint="Empty: an invented user, sample@example.com.">
          {(attributes) => (
            <Input
              {...attributes}
              mono
              value={user}
              onChange={(event) => setUser(event.target.value)}
            />
          )}
        </Field>
        {call.error !== null && <ErrorNotice title="The hook was not called" error={call.error} />}
        {call.data !== undefined && <Outcome trial={call.data} />}
      </div>
    </Dialog>
  );
}

function Outcome({ trial }: { trial: HookTrial }) {
  return (
    <>
      <p role="status" className="text-caption">
        {trial.refusal === null ? (
          <>It answered in {formatDuration(trial.elapsed_ms)}.</>
        ) : (
          <span className="text-danger">
            It refused, or could not be called: <Text multiline>{trial.refusal}</Text>
          </span>
        )}
      </p>
      {trial.refusal === null && (
        <div>
          <h3 className="mb-1 font-medium text-caption">Answer</h3>
          <CodeBlock label="Answer of the hook" code={writeExact(trial.output, 2)} />
        </div>
      )}
      <div>
        <h3 className="mb-1 font-medium text-caption">What it got</h3>
        <CodeBlock label="Input of the hook" code={writeExact(trial.input, 2)} />
      </div>
    </>
  );
}
