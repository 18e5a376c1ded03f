import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Store, Tag } from "lucide-react";
import { Link, useParams } from "react-router";
import { ItemLinkCard } from "@/app/shell/item-link-card";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { OutfitLinkCard } from "@/app/shell/outfit-link-card";
import { PageSection, RowSection } from "@/app/shell/page-section";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { LoadMore } from "@/components/ui/load-more";
import { MissingNotice } from "@/components/ui/missing-notice";
import { type Brand, brandQuery } from "@/features/brands/api/get-brand";
import { BrandHeader, BrandHeaderSkeleton } from "@/features/brands/components/brand-header";
import { brandItemsQuery } from "@/features/items/api/list-brand-items";
import { ItemGrid, ItemGridSkeleton } from "@/features/items/components/item-grid";
import { outfitsWithBrandQuery } from "@/features/outfits/api/list-outfits-with";
import { outfitCardShape } from "@/features/outfits/components/outfit-card-shape";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** Page of one brand: all of its items, and outfits with them. */
export function BrandPage() {
  const { id = "" } = useParams();
  const { data: brand, isPending, isLoadingError, error, refetch } = useQuery(brandQuery(id));
  if (isPending) {
    return (
      <>
        <BrandHeaderSkeleton />
        <div className="mt-16">
          <ItemGridSkeleton />
        </div>
      </>
    );
  }
  if (isLoadingError) {
    return <ErrorNotice title="The brand could not be loaded." error={error} onRetry={refetch} />;
  }
  if (brand === null) {
    return (
      <>
        <MissingNotice
          glyph={<Store strokeWidth={1.3} />}
          page="Brand not found"
          title="There is no such brand here."
          text="It may have left the catalogue, or the link is incomplete."
        />
        <NewestOutfits />
      </>
    );
  }
  return (
    <>
      <title>{pageTitle(brand.name)}</title>
      <BrandHeader brand={brand} />
      <PageSection title="Items">
        <BrandItems brand={brand} />
      </PageSection>
      <BrandOutfits brand={brand} />
    </>
  );
}

function BrandItems({ brand }: { brand: Brand }) {
  const list = useInfiniteQuery(brandItemsQuery(brand.id));
  if (list.isPending) return <ItemGridSkeleton />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The items could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) {
    return (
      <EmptyState
        glyph={<Tag strokeWidth={1.4} />}
        title="This brand has no items yet."
        action={
          <Button asChild>
            <Link to={paths.explore}>Explore Outfits</Link>
          </Button>
        }
      />
    );
  }
  return (
    <>
      <ItemGrid items={list.data} label="Items">
        {(item, _index, eager) => <ItemLinkCard item={item} eager={eager} />}
      </ItemGrid>
      <LoadMore list={list} />
    </>
  );
}

function BrandOutfits({ brand }: { brand: Brand }) {
  const list = useInfiniteQuery(outfitsWithBrandQuery(brand.id));
  return (
    <RowSection
      title={`Outfits with ${brand.name}`}
      list={list}
      shape={outfitCardShape}
      lineCount={2}
    >
      {(outfit) => <OutfitLinkCard outfit={outfit} />}
    </RowSection>
  );
}
