// Takes the POSTs of whoever is measured, in a process of its own so that it costs all of them the same: a line with its port, then a dot each.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":"b1"}');
    process.stdout.write('.');
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.on('end', () => process.exit(0)).resume();
