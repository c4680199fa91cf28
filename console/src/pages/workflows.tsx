import type { Status } from '../api-types.ts';
import { Page } from '../app/page.tsx';
import { Choose, Filters, SearchField, useFilter } from '../parts/filters.tsx';
import { WorkflowTable } from '../parts/workflow-table.tsx';
import { KIND_WORDS } from '../words/words.ts';

const SHOWN_MAX = 1_000;
const KINDS = Object.entries(KIND_WORDS);

export function Workflows() {
  const filter = useFilter();
  return (
    <Page title="Workflows" lead="How each stands, in plain words. What needs you stands in front.">
      <Filters isSet={filter.isSet}>
        <SearchField label="Search workflows" />
        <Choose label="How it stands" name="kind" all="However it stands" options={KINDS} />
      </Filters>
      <WorkflowTable limit={SHOWN_MAX} q={filter.get('q')} kind={filter.get('kind') as Status['kind'] | undefined} />
    </Page>
  );
}
