/** The line above the editor: run, as whom, in which transaction, explain, save. */
import { Button } from "@ui/button";
import { ChevronDown, Play, Save, Square, Workflow } from "lucide-react";
import { Kbd } from "@/components/kbd";
import { Menu, MenuHeading, MenuItem, MenuRadioGroup, MenuRadioItem } from "@/components/menu";
import { SubjectPicker } from "@/components/subject-picker";
import type { SqlSettings } from "./use-sql-settings";

interface SqlToolbarProps extends SqlSettings {
  isRunning: boolean;
  isExplaining: boolean;
  onRun: () => void;
  onRunStatement: () => void;
  onCancel: () => void;
  onExplain: (analyze: boolean) => void;
  onSave: () => void;
}

export function SqlToolbar(props: SqlToolbarProps) {
  const { subject, onSubject, isRunning, isExplaining, onRun, onCancel, onExplain, onSave } = props;
  return (
    <div
      role="toolbar"
      aria-label="Query"
      className="flex shrink-0 flex-wrap items-center gap-1.5 border-line border-b bg-surface px-2 py-1.5"
    >
      {isRunning ? (
        <Button size="dense" variant="danger" onClick={onCancel}>
          <Square aria-hidden="true" className="size-3.5" />
          Cancel
        </Button>
      ) : (
        <Button size="dense" variant="primary" onClick={onRun}>
          <Play aria-hidden="true" className="size-3.5" />
          Run
        </Button>
      )}
      <span className="text-caption text-ink-soft max-sm:sr-only">as</span>
      <SubjectPicker value={subject} onChange={onSubject} />
      <TransactionMenu {...props} />
      <div className="ml-auto flex items-center gap-1.5">
        <Menu
          label="Explain"
          trigger={
            <Button size="dense" variant="quiet" pending={isExplaining}>
              <Workflow aria-hidden="true" className="size-3.5" />
              Explain
              <ChevronDown aria-hidden="true" className="size-3.5" />
            </Button>
          }
        >
          <MenuItem onSelect={() => onExplain(false)}>Plan without running</MenuItem>
          <MenuItem onSelect={() => onExplain(true)}>Run, measure and roll back</MenuItem>
        </Menu>
        <Button size="dense" variant="quiet" onClick={onSave}>
          <Save aria-hidden="true" className="size-3.5" />
          Save
        </Button>
      </div>
    </div>
  );
}

function TransactionMenu({ transaction, onTransaction, onRunStatement }: SqlToolbarProps) {
  return (
    <Menu
      label="How to run"
      align="start"
      trigger={
        <Button size="dense" variant="quiet">
          {transaction === "one" ? "One transaction" : "Autocommit"}
          <ChevronDown aria-hidden="true" className="size-3.5" />
        </Button>
      }
    >
      <MenuHeading>Statements run</MenuHeading>
      <MenuRadioGroup
        value={transaction}
        onValueChange={(value) => onTransaction(value === "autocommit" ? "autocommit" : "one")}
      >
        <MenuRadioItem value="one">in one transaction: all or nothing</MenuRadioItem>
        <MenuRadioItem value="autocommit">one by one, each committed</MenuRadioItem>
      </MenuRadioGroup>
      <MenuItem onSelect={onRunStatement}>
        <span className="flex-1">Run the statement at the cursor</span>
        <Kbd keys="mod+shift+enter" />
      </MenuItem>
    </Menu>
  );
}
