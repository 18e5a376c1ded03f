import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";

export function Screen() {
  return (
    <ScreenLayout title="Mail">
      <SkeletonRows />
    </ScreenLayout>
  );
}
