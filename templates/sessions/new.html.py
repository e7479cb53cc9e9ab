BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'New session') X XX
  BB BBB BBBBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
  BBBBB
  BB BBB BBBBBBBBBB
    XXXXXXXX XXXXXXX gettext(u'Join a team to start sessions') XX
       gettext(u'Sessions belong to a team. Ask a team lead or an administrator of the organization to add you.') 
    XXXXXXXXXX
  BBBB
    XXXXX XXXXXXXXXXXXX
          XXXXXXXXXXXX XXXXXXXX
          XXXXXXXXXXXXXXXX
          XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXXXXXXX
           XXXXXXXXXXXXXXXXX
           XXXXXXXXXXXX pgettext(u'spoken label', u'Template') XX
        BBB BBB BB BBBBBBBBB
          XXXXXXX
            XXX
              XXXXXX XXXXXXXXXXXX
                     XXXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXFFFFFFFX
                     BB BBBBBBBB BB BBBBBBBBBBBBBBXXXXXXXBBBBBX
              FFFFFFFFFF
            XXXX
            XXXXXXFFFFFFFFFFXXXXXXX
          XXXXXXXX
        BBBBBB
      XXXXXX
      XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Command') X
                 XXXXXXXXXXXX
                 XXXXXX gettext(u'It serves on 127.0.0.1, at the port in MUSTER_PORT_APP. Others on the node can open that, but not the Unix socket MUSTER_APP_SOCKET.') XX
          XXXXXXXXX XXXXXXXXXXXXXX
                    XXXXXXXX
                    XXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXX XXXXXX XXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Port') X
                 XXXXXX gettext(u'Only if the program has a fixed one.') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'GPU') XX
          XXXXXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXX pgettext(u'choice, GPU', u'None') XXXXXXXXX
            BBB BBB BB BBBB
              BB BBBBBBBBBBBBBBBBB
                BBBB BBBBBBBBBBBBBBBBBBBBBBB
                  XXXXXXX XXXXXXXX BB BBBBB BB BBBBBBBBBBXXXXXXXXBBBBBX
                     pgettext(u'choice, GPU', u'1 %(type)s, %(n)s free') 
                      S SSSSSSSSS SSSSS SSSS
                    
                  XXXXXXXXX
                BBBBBBB
              BBBBB
            BBBBBB
            BBB BBB BB BBBB
              BB BBBBBBBBBBBBBBBBB B B
                BBBB BBBBBBBBBBBBBBBBBBBBBBB
                  XXXXXXX XXXXXXXX BB BBBBB BB BBBBBBBBBBXXXXXXXXBBBBBX
                    X FFFFFFFF
                  XXXXXXXXX
                BBBBBBB
              BBBBB
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field, container image', u'Image') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder', u'No image: runs with what is installed on the node') XX
        XXXXXXXXXX
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Data') X
                 XXXXXX gettext(u'A dataset or a checkpoint, to read.') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXX pgettext(u'placeholder', u'none') XX
        XXXXXXXXXX
        XXXXXXXXX XXXXXXXXXXXXXXXX
          BBB BBBB BB BBBBXXXXXXX XXXXXXXXXXXXXXXXXXBBBBBB
        XXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Workspace') X
                 XXXXXX gettext(u'Files here stay after the session.') XX
          XXXXXXX XXXXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXX pgettext(u'choice, workspace', u'None') XXXXXXXXX
            BBB BBBB BB BBBBBBB
              XXXXXXX XXXXXXXX
                      BB BBBB BB BBBBBBBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Time limit') X
                 XXXXXX gettext(u'Then it is stopped.') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        BB BBBBBBBBBBBB B B
          XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
            XXXXXXX XXXXXXXXXXXX
              BBB BBB BB BBBBB
                XXXXXXX XXXXXXXX
                        BB BBBBBBBB BB BBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXXXX
        BBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
        BBBBB
      XXXXXX
      XXXXXXXX XXXXXXXXXXXX XXXXX
               BB BBBBBBBBBB BB BBBBBBBBBBBB BB BBBBBBBBBBXXXXBBBBBX
        XXXXXXXXX
          XXXXXX gettext(u'Name, CPU and memory') XXXXXXX
        XXXXXXXXXX
        XXXX XXXXXXXXXXXXX
          XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
            XXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'CPU cores') XX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
            XXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'Memory') XX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
            XXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'Pool') XX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXX pgettext(u'text, new-job', u'Muster chooses') XX
            XXXXXXXXXX
          XXXXXX
        XXXXXX
      XXXXXXXXXX
      XXXX XXXXXXXXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXX XXXXXXXXXXXXXX XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXXXXXXXX XX
            XXX
              XXXXXXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXXXXXX
            XXXX
          XXXXXX
        XXXXXX
        XXXX XXXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXX pgettext(u'button', u'Start session') XXXXXXXXX
        XXXXXX
      XXXXXX
    XXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
