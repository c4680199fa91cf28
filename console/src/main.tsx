import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { newQueryClient } from './api/queries.ts';
import { begin } from './api/sign-in.ts';
import { Shell } from './app/shell.tsx';
import { showTheme } from './app/theme.ts';
import { beginTour } from './app/tour.ts';
import './styles/index.css';

showTheme();
beginTour();
void begin();
const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={newQueryClient()}>
      <Shell />
    </QueryClientProvider>
  </StrictMode>,
);
