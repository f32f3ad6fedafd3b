"""Asks a server of the Model Context Protocol some questions with the SDK for Python, and prints the answers as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command, args, questions):
    async with stdio_client(StdioServerParameters(command=command, args=args)) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            answers = []
            for name, given in questions:
                answer = await session.call_tool(name, given)
                text = answer.content[0].text
                failed = getattr(answer, "isError", None) or getattr(answer, "is_error", False)
                answers.append({"failed": bool(failed), "text": text})
            print(json.dumps({"tools": tools, "answers": answers}))


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])))
