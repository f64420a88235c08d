// OpenSpiel's own game at random in C++, looked at before every decision as a learner would.
// Built against the headers that its package brings, and run by the library that it is.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "open_spiel/spiel.h"

// How much is written before a decision: nothing, the mask of what is legal, the tensor too.
enum Look { kNothing, kMask, kTensor };

// Plays whole games, chance moves included; how many decisions they had. Negative if none can be.
extern "C" long play_games(const char* name, long games, int look, unsigned seed) {
  std::shared_ptr<const open_spiel::Game> game = open_spiel::LoadGame(std::string(name));
  const bool recalls = game->GetType().provides_information_state_tensor;
  std::vector<float> tensor(recalls ? game->InformationStateTensorSize()
                                    : game->ObservationTensorSize());
  std::mt19937 random(seed);
  long decisions = 0;
  volatile float sink = 0;
  for (long i = 0; i < games; ++i) {
    std::unique_ptr<open_spiel::State> state = game->NewInitialState();
    while (!state->IsTerminal()) {
      const std::vector<open_spiel::Action> legal = state->LegalActions();
      if (!state->IsChanceNode()) {
        ++decisions;
        if (look >= kMask) sink = state->LegalActionsMask().back();
        if (look >= kTensor) {
          const open_spiel::Player seat = state->CurrentPlayer();
          if (recalls) {
            state->InformationStateTensor(seat, absl::MakeSpan(tensor));
          } else {
            state->ObservationTensor(seat, absl::MakeSpan(tensor));
          }
          sink = tensor.back();
        }
      }
      state->ApplyAction(legal[(static_cast<unsigned long>(random()) * legal.size()) >> 32]);
    }
  }
  return decisions;
}
