import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { LoadingPage } from "@ui/spinner";
import { Shirt } from "lucide-react";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { Navigate, useNavigate } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { MissingNotice } from "@/components/ui/missing-notice";
import { anotherOutfit, type Draft, rememberSent } from "@/features/submissions/api/draft";
import {
  draftOf,
  type SavedSubmission,
  submissionQuery,
} from "@/features/submissions/api/get-submission";
import { deleteOutfitPicture } from "@/features/submissions/api/outfit-picture";
import { SavedBeforeError } from "@/features/submissions/api/saved-before";
import { useSubmitOutfit } from "@/features/submissions/api/submit-outfit";
import { useDraft } from "@/features/submissions/api/use-draft";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { overtakenCode } from "@/lib/present-row";
import { pageTitle } from "@/lib/product";
import type { OvertakenError } from "@/lib/save-changes";
import { hasCode } from "@/lib/service-error";
import { useSession } from "@/lib/session";
import { SelectItems } from "./select-items";
import { useWizardParams, type WizardStep, wizardPath } from "./wizard-params";

const loadReview = async () => ({ default: (await import("./review-outfit")).ReviewOutfit });
const ReviewOutfit = lazyPart(loadReview);
const OvertakenOutfit = lazyPart(
  async () => ({ default: (await import("./overtaken-outfit")).OvertakenOutfit }),
  "overlay",
);

/** The wizard that creates an outfit, or edits one of the user's: /create-outfit, /create-outfit?outfit={id}. */
export function CreateOutfit() {
  const { user } = useSession();
  const { outfit } = useWizardParams();
  if (user === null) return null;
  if (outfit === null) return <Wizard key="new" userId={user.id} edited={null} />;
  return <EditOutfit key={outfit} userId={user.id} outfitId={outfit} />;
}

function EditOutfit({ userId, outfitId }: { userId: string; outfitId: string }) {
  const { data, isPending, error, refetch } = useQuery(submissionQuery(userId, outfitId));
  if (isPending) return <LoadingPage />;
  if (data === undefined) {
    return <ErrorNotice title="The outfit could not be loaded." error={error} onRetry={refetch} />;
  }
  if (data === null || data.status === "approved" || data.status === "unlisted") {
    return (
      <MissingNotice
        glyph={<Shirt strokeWidth={1.3} />}
        page="Outfit not editable"
        title={data === null ? "Outfit not found" : "This outfit is live"}
        text={
          data === null
            ? "It was deleted, or it is not yours."
            : "It was approved and is on the site. An approved outfit stays as it was approved."
        }
        action="Explore Outfits"
      />
    );
  }
  return <Wizard userId={userId} edited={data} />;
}

interface WizardProps {
  userId: string;
  /** The outfit that is edited; null for a new one. */
  edited: SavedSubmission | null;
}

function Wizard({ userId, edited }: WizardProps) {
  const params = useWizardParams();
  const navigate = useNavigate();
  const initial = useMemo(() => (edited === null ? null : draftOf(edited)), [edited]);
  const { draft, change, clear, lostItems } = useDraft(userId, params.outfit, initial);
  const submit = useSubmitOutfit();
  const isSending = useRef(false);
  const [failure, setFailure] = useState<OvertakenError | null>(null);
  const hasItems = draft.items.length > 0;
  useEffect(() => {
    // The code of the next step is loaded in advance, so that it opens immediately, also without a network.
    if (hasItems) loadReview().catch(() => undefined);
  }, [hasItems]);
  const title = edited === null ? "Create Outfit" : "Edit Outfit";

  // A draft without items has nothing to review, for example after the last attempt succeeded in another tab.
  if (params.step === "review" && !hasItems && !submit.isSuccess) {
    return <Navigate to={wizardPath({ ...params, step: "items" })} replace />;
  }

  function send(sent: Draft = draft) {
    // The second click of a double click comes before the button is disabled, and would draw and upload the picture once more.
    if (isSending.current) return;
    isSending.current = true;
    submit.mutate(
      { userId, draft: sent, edited, onSend: (fields) => change(rememberSent(sent, fields)) },
      {
        onSuccess: ({ status }) => {
          forgetReplacedPicture(userId, sent);
          clear();
          // Opens the list that contains the outfit now.
          navigate(status === "approved" ? paths.myOutfits : paths.mySubmissions);
        },
        onError: (error) => {
          if (error instanceof SavedBeforeError) change(anotherOutfit());
          if (hasCode(error, overtakenCode)) setFailure(error as OvertakenError);
        },
        onSettled: () => {
          isSending.current = false;
        },
      },
    );
  }

  return (
    <section aria-labelledby="wizard-title">
      <title>{pageTitle(title)}</title>
      <h1 id="wizard-title" className="font-serif text-display">
        {title}
      </h1>
      {edited?.status === "rejected" && <RejectionNote reason={edited.rejection_reason} />}
      <Steps step={params.step} />
      {lostItems.length > 0 && (
        <p role="status" className="mb-4 rounded-md border border-line px-4 py-3 text-small">
          No longer in the catalogue and taken out: {lostItems.join(", ")}.
        </p>
      )}
      {params.step === "items" ? (
        <SelectItems
          params={params}
          draft={draft}
          onChange={change}
          onNext={() => navigate(wizardPath({ ...params, step: "review" }))}
        />
      ) : (
        <Suspense fallback={<LoadingPage />}>
          <ReviewOutfit
            userId={userId}
            draft={draft}
            onChange={change}
            onBack={() => navigate(wizardPath({ ...params, step: "items" }))}
            onSubmit={() => send()}
            submitting={submit.isPending}
          />
        </Suspense>
      )}
      {failure !== null && (
        <Suspense>
          <OvertakenOutfit
            draft={draft}
            failure={failure}
            onResolve={(changes) => {
              setFailure(null);
              change(changes);
              send({ ...draft, ...changes });
            }}
            onDismiss={() => setFailure(null)}
          />
        </Suspense>
      )}
    </section>
  );
}

/** Deletes the picture that an edited outfit had, when it has another one now. */
function forgetReplacedPicture(userId: string, { picture, savedPicture }: Draft): void {
  const kept = picture.kind === "uploaded" ? picture.url : null;
  if (savedPicture !== null && savedPicture !== kept) {
    deleteOutfitPicture(userId, savedPicture).catch(() => undefined);
  }
}

function RejectionNote({ reason }: { reason: string | null }) {
  return (
    <p className="mt-4 max-w-2xl rounded-md border border-danger/50 px-4 py-3 text-small">
      This outfit was not approved.{reason !== null && ` ${reason}`} Submit it again after your
      changes.
    </p>
  );
}

const stepTitles: readonly { step: WizardStep; title: string }[] = [
  { step: "items", title: "Select Items" },
  { step: "review", title: "Review & Submit" },
];

/** The two steps with the current one; its heading takes the focus when the step changes, so that readers notice. */
function Steps({ step }: { step: WizardStep }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    heading.current?.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
  }, [step]);
  return (
    <ol className="mt-4 mb-6 flex flex-wrap gap-x-8 gap-y-2">
      {stepTitles.map(({ step: one, title }, index) => (
        <li
          key={one}
          aria-current={one === step ? "step" : undefined}
          className={cn("flex items-baseline gap-2", one !== step && "text-ink-soft")}
        >
          <span className="text-small tabular-nums">{index + 1}</span>
          {one === step ? (
            <h2 ref={heading} tabIndex={-1} className="font-serif text-heading outline-none">
              {title}
            </h2>
          ) : (
            <span className="font-serif text-heading">{title}</span>
          )}
        </li>
      ))}
    </ol>
  );
}
