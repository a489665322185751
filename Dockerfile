# docker build -t soar-il .
# docker run --rm -v "$PWD/results:/home/soar/results" soar-il train --env Hopper-v5 --critics 4
FROM python:3.12-slim

# A software renderer, for `soar video`; all else works without.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libosmesa6 \
    && rm -rf /var/lib/apt/lists/*
ENV MUJOCO_GL=osmesa

WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY soar_il soar_il
COPY experiments experiments
RUN pip install --no-cache-dir ".[video]" && rm -rf /build

RUN useradd --create-home soar
USER soar
WORKDIR /home/soar
RUN mkdir results && soar doctor
ENTRYPOINT ["soar"]
