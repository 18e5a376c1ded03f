/** Policies: the access matrix, the policies of a table beside the simulator, and the simulator for any request. */
import type { QueryClient } from "@tanstack/react-query";
import { Navigate, Route, Routes } from "react-router";
import { MatrixScreen } from "./matrix-screen";
import { accessQuery } from "./queries";
import { SimulatorScreen } from "./simulator-screen";
import { TableScreen } from "./table-screen";

export function prefetch(client: QueryClient): void {
  void client.prefetchQuery(accessQuery);
}

export function Screen() {
  return (
    <Routes>
      <Route index element={<MatrixScreen />} />
      <Route path="simulator" element={<SimulatorScreen />} />
      <Route path=":oid" element={<TableScreen />} />
      <Route path="*" element={<Navigate to="/policies" replace />} />
    </Routes>
  );
}
