import { Page } from '../app/page.tsx';
import { Filters, SearchField, useFilter } from '../parts/filters.tsx';
import { WorkflowTable } from '../parts/workflow-table.tsx';

const SHOWN_MAX = 1_000;

export function Workflows() {
  const filter = useFilter();
  return (
    <Page title="Workflows" lead="How each stands, in plain words. What needs you stands in front.">
      <Filters isSet={filter.isSet}>
        <SearchField label="Search workflows" />
      </Filters>
      <WorkflowTable limit={SHOWN_MAX} q={filter.get('q')} />
    </Page>
  );
}
