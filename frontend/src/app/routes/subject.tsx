import { ArrowRight } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Skeleton } from "@/components/ui/skeleton";
import { subjectColumns } from "./subject-columns";

/** The upper part of the page of an outfit or item: pictures beside the details. */
export function SubjectColumns({ gallery, children }: { gallery: ReactNode; children: ReactNode }) {
  return (
    <article className={subjectColumns}>
      {/* 92 pixels are just above its first place: with more, it would be lower when the details are longer than the picture. */}
      <div className="max-md:-mt-8 min-w-0 md:sticky md:top-23 md:self-start">{gallery}</div>
      <div className="min-w-0 md:pt-4">{children}</div>
    </article>
  );
}

export function SubjectSkeleton({ label }: { label: string }) {
  return (
    <div role="status" className={subjectColumns}>
      <span className="sr-only">{label}</span>
      <Skeleton className="aspect-4/5 max-md:-mx-4 max-md:-mt-8 max-md:rounded-none! md:rounded-lg!" />
      <div className="md:pt-4">
        <Skeleton className="h-14 w-4/5" />
        <Skeleton className="mt-6 h-9 w-40 rounded-full" />
        <Skeleton className="mt-12 h-4 w-full" />
        <Skeleton className="mt-3 h-4 w-2/3" />
      </div>
    </div>
  );
}

/** Caption of a gallery's picture: a link to the page of what it shows. */
export function WornIn({ to, label }: { to: string; label: string }) {
  return (
    <Link
      to={to}
      className="inline-flex min-h-11 max-w-full items-center gap-2 rounded-full bg-canvas/90 px-4 text-ink text-small backdrop-blur-sm hover:bg-canvas"
    >
      <span className="truncate">{label}</span>
      <ArrowRight aria-hidden="true" className="size-4 shrink-0" strokeWidth={1.6} />
    </Link>
  );
}
