BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXXXXXX XXXXXXXXXX
  XXXX XXXXXXXXXXXXX
    XXXX XXXXXXXXXX XXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXXX XXXXXXXXXXX XX
      XXXXXXX
      XXXXXXXXX
      XXXXX XXXXXXXXXXXXXXXXXXXXXX
    XXXXXX
    XXXX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXX
      XXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
      BB BBBBBBBBB BBB BBB BBBB
        XXXXXX
          XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBBBBBBBBBB B B
            XXXXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXXXX
                 pgettext(u'heading', u'+ %(n)s more') 
                  S SSSSS SSSS
                
              XXXXXXXXXX
              XXXX XXXXXXXXXXXXXX
                BBB B BB BBBBBBBBB
                  XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                BBBBBB
              XXXXXX
            XXXXXXXXXX
          BBBBB
        XXXXXXX
      BBBB
        XXXXXXXXXXXXX
      BBBBB
      BB BBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBB
        XXXXXX
           pgettext(u'text, jobs', u'ran %(time)s') 
            SSS SSSSSSSS
          
        XXXXXXX
      BBBB BBBBBBBBBBBBBB
        XXXXXX
           pgettext(u'text, jobs', u'%(time)s elapsed') 
            SSSSSSSS SSSSSSS
          
        XXXXXXX
      BBBBB
      BB BBBBB
        XXXXXX
          BB BBBB
             pgettext(u'text, jobs', u'%(time)s limit per task') 
              SSSSSSSS SSSSS SSS SSSS
            
          BBBB
             pgettext(u'text, jobs', u'%(time)s limit') 
              SSSSSSSS SSSSS
            
          BBBBB
        XXXXXXX
      BBBBB
      BB BBBBBBBBBBBBBBB
        XXXXXX
           pgettext(u'text, jobs', u'ended %(time)s') 
            SSSSS SSSSSSSS
          
        XXXXXXX
      BBBBB
      BBB BBBB BB BBBBB
        XXXXXX
          FFFFFFFFFF
          XX XXXXXXXXXXXX
        XXXXXXX
      BBBBBB
      BB BBBBBB
        XXXXXX
          FFFFFFFFFF
          BB BBBBBBBBBBB
            XX XXXXXXXXXXXX
          BBBB
            
          BBBBB
        XXXXXXX
      BBBBB
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
    BB BBBBBBBBBBBBB BB BBBBBBBBB
      BBB BBB BB BBBBBBBBBBBBBBBB
        BB BBBBBBBBBBBB BB BBBBBB
          XX XXXXXXXXXX XXXXXXXX
             XXXXXXBBB BBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBBBXXXXXXBBBBBX
             XXXXXXXXXXXXXXX
             XXXXXXXXXXXXXXX
            BB BBBBBBBBBBBB BB B
               pgettext(u'button, to open', u'Open') 
            BBBB
               pgettext(u'button', u'Open %(name)s') 
                SSSS SSSSSSSS
              
            BBBBB
          XXXX
        BBBBB
      BBBBBB
    BBBBB
    BB BBBBBBBBBB BBB BBB BBBBBBBB
      BB BBBBBBBBB BB BBBBBBBB
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXXXXBB BBBBBBBBBBBXXXXXXXBBBBXXXXBBBBBXX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXXXX
            BB BBBBBBBBBBB
               pgettext(u'button, let a held job start', u'Release') 
            BBBB
               pgettext(u'button, keep a job from starting', u'Hold') 
            BBBBB
          XXXXXXXXX
        XXXXXXX
      BBBBB
      XXXXX XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXX pgettext(u'button', u'Cancel job') X
            XXXXXXXXX pgettext(u'button', u'Keep job') X
            XXXXXXXXXXXXXX pgettext(u'question', u'Cancel #%(n)s %(name)s?') 
              SSSSSS SSSSSS SSSSSSSSS
            XX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXXX
                BB BBBBBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBX
          BB BBBBBBBBB BB BBBBBBBBBB
             pgettext(u'button', u'Canceling…') 
          BBBB
             pgettext(u'button', u'Cancel') 
          BBBBB
        XXXXXXXXX
      XXXXXXX
    BBBBB
    XX XXXXXXXXXXX
       XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
       pgettext(u'button', u'Edit and rerun') 
    XXXX
    XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
      BBBBBBBBBB
      XXXXXXX XXXXXXXXXXBB BBBBBBBB BBB BBB BBBBBBBBBBB XXXXXXXBBBBBXX pgettext(u'button', u'Rerun') XXXXXXXXX
    XXXXXXX
  XXXXXX
XXXXXX
