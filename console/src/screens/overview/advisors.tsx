import { Button } from "@ui/button";
import { BellOff, CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useSession, whyNoSchemaChanges, whyReadOnly } from "@/api/session";
import { CodeBlock } from "@/components/code-block";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { MigrationDialog } from "@/components/migration-dialog";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import { useSearchState } from "@/lib/use-search-state";
import { type Finding, useAdvice, useMuteFinding } from "./api";
import { groupFindings } from "./findings";
import { cardClasses, Section } from "./section";

const levelIcons = {
  error: <CircleAlert aria-label="error" className="size-4 shrink-0 text-danger" />,
  warn: <TriangleAlert aria-label="warning" className="size-4 shrink-0 text-warning" />,
  info: <Info aria-label="note" className="size-4 shrink-0 text-info" />,
};

/** The advisors' findings, the most severe first: the reason, the fix, and a button to mute each. */
export function Advisors() {
  const advice = useAdvice();
  const [isMutedShown, setMutedShown] = useState(false);
  // Kept here: its line goes with the finding, and the SQL that is edited must not.
  const [fixed, setFixed] = useState<FixedFinding | null>(null);
  const groups = groupFindings(advice.data?.findings ?? [], advice.data?.muted ?? [], isMutedShown);
  const mutedCount = advice.data?.muted.length ?? 0;
  return (
    <Section
      title="Advisors"
      detail={
        advice.isSuccess
          ? plural(groups.flatMap(({ findings }) => findings).length, "finding")
          : undefined
      }
      actions={
        mutedCount > 0 && (
          <Button size="dense" variant="quiet" onClick={() => setMutedShown(!isMutedShown)}>
            {isMutedShown ? "Hide muted" : `Show ${mutedCount} muted`}
          </Button>
        )
      }
    >
      <StaleNotice query={advice} />
      {advice.isPending ? (
        <SkeletonRows rows={4} />
      ) : advice.isLoadingError ? (
        <ErrorNotice
          title="The advisors could not be asked"
          error={advice.error}
          onRetry={() => advice.refetch()}
        />
      ) : groups.length === 0 ? (
        <div className={cardClasses}>
          <EmptyState icon={CircleCheck} title="The advisors have nothing to complain about." />
        </div>
      ) : (
        <ul className={`${cardClasses} divide-y divide-line-soft`}>
          {groups.map((group) => (
            <FindingGroup key={group.name} {...group} muted={advice.data.muted} onFix={setFixed} />
          ))}
        </ul>
      )}
      {fixed !== null && <MigrationDialog {...fixed} onClose={() => setFixed(null)} />}
    </Section>
  );
}

/** The fix of a finding as it was when it was opened. */
interface FixedFinding {
  title: string;
  sql: string;
}

interface FindingGroupProps {
  name: string;
  findings: Finding[];
  muted: readonly string[];
  onFix: (fixed: FixedFinding) => void;
}

/** Findings of one kind; a kind that was found on many objects takes one line until it is opened. */
function FindingGroup({ name, findings, muted, onFix }: FindingGroupProps) {
  const [search, change] = useSearchState();
  const first = findings[0];
  if (first === undefined) return null;
  const isOpen = search.get("advice") === name;
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => change({ advice: isOpen ? null : name }, { replace: true })}
        className="flex w-full items-center gap-3 px-4 py-2.5 text-left text-caption hover:bg-hover pointer-coarse:min-h-11"
      >
        {levelIcons[first.level]}
        <span className="min-w-0 flex-1 font-medium">
          <Text>{first.title}</Text>
        </span>
        <span className="shrink-0 text-ink-soft">
          {findings.length === 1 ? (
            <code className="font-mono text-label">
              <Text>{nameOfObject(first)}</Text>
            </code>
          ) : (
            plural(findings.length, "object")
          )}
        </span>
      </button>
      {isOpen && (
        <div className="grid gap-3 px-4 pb-4 pl-11 max-md:pl-4">
          <ul className="grid gap-3">
            {findings.map((finding) => (
              <FindingLine
                key={finding.key}
                finding={finding}
                isMuted={muted.includes(finding.key)}
                onFix={onFix}
              />
            ))}
          </ul>
        </div>
      )}
    </li>
  );
}

function nameOfObject({ object }: Finding): string {
  return object.schema === null || object.schema === ""
    ? object.name
    : `${object.schema}.${object.name}`;
}

interface FindingLineProps {
  finding: Finding;
  isMuted: boolean;
  onFix: (fixed: FixedFinding) => void;
}

function FindingLine({ finding, isMuted, onFix }: FindingLineProps) {
  const { name, object, fix } = finding;
  const session = useSession();
  const mute = useMuteFinding();
  const noMute = whyReadOnly(session);
  const noFix = whyNoSchemaChanges(session);
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <div className="flex flex-wrap items-center gap-2 text-caption">
        <span className="min-w-0 flex-1 truncate">
          <span className="text-ink-soft">{object.kind}</span>{" "}
          <code className="font-mono">
            <Text>{nameOfObject(finding)}</Text>
          </code>
        </span>
        {fix !== null && (
          <Button
            size="dense"
            disabled={noFix !== undefined}
            title={noFix}
            onClick={() => onFix({ title: `Fix ${name} of ${object.name}`, sql: fix })}
          >
            Fix as migration
          </Button>
        )}
        <Button
          size="dense"
          variant="quiet"
          disabled={noMute !== undefined}
          title={noMute}
          pending={mute.isPending}
          onClick={() => mute.mutate({ key: finding.key, isMuted: !isMuted })}
        >
          <BellOff aria-hidden="true" className="size-3.5" />
          {isMuted ? "Unmute" : "Mute"}
        </Button>
      </div>
      <p className="max-w-3xl text-caption text-ink-soft">
        <Text multiline>{finding.why}</Text>
      </p>
      {fix !== null && <CodeBlock label={`fix of ${nameOfObject(finding)}`} code={fix} />}
      {mute.isError && <ErrorNotice title="It was not muted" error={mute.error} />}
    </li>
  );
}
