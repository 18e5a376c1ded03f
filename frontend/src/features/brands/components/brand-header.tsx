import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import type { Brand } from "../api/get-brand";

/** Header of a brand's page: logo, name and description. */
export function BrandHeader({ brand }: { brand: Brand }) {
  return (
    <header className="flex flex-col items-center pt-4 text-center">
      {brand.logo !== null && (
        <Picture
          url={brand.logo}
          alt=""
          sizes="224px"
          width={640}
          height={320}
          eager
          className="h-28 w-56 rounded-md"
        />
      )}
      <h1 className="mt-6 text-balance font-serif text-display">{brand.name}</h1>
      {brand.description !== null && (
        <p className="mt-5 max-w-xl text-pretty text-body text-ink-soft">{brand.description}</p>
      )}
    </header>
  );
}

export function BrandHeaderSkeleton() {
  return (
    <div role="status" className="flex flex-col items-center pt-4">
      <span className="sr-only">Loading brand...</span>
      <Skeleton className="h-28 w-56 rounded-md!" />
      <Skeleton className="mt-8 h-14 w-80 max-w-full" />
      <Skeleton className="mt-6 h-4 w-96 max-w-full" />
      <Skeleton className="mt-3 h-4 w-72 max-w-full" />
    </div>
  );
}
