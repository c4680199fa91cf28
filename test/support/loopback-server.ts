import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on any free port of this machine, for whoever plays a service. */
export class LoopbackServer {
  protected readonly server: Server = createServer();

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
